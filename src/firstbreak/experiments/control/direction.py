"""Which way a trainer goes, asked in stages: a part of the run first, slower steps or all of the run after that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...errors import InputError
from ..experiment import Measures, Option
from ..stages import Stage
from ..statistics import interval
from ..subject import Subject
from ..trial import Trial
from .knobs import change
from .readings import EXPECT, falls_short

if TYPE_CHECKING:
    from ..result import Result

QUARTER = 0.25
"""Share of the run's steps that is tried first: a direction shows before a level does. Calibrated on PPO of CartPole
with its advantages flipped: a quarter decided, a tenth left it open."""
SOME_PAIRS = 8
"""Pairs of seeds at most of a stage that others follow: what five leave wide open is not worth twenty."""
SLOWER = (0.1, 0.01)
"""Factors on the learning rate where the run's own drives the policy down either way. Which way an update goes does not
depend on how far."""
FIRST_FRAC, WHOLE_FRAC, SLOWER_FRAC = 1 / 2, 1 / 4, 1 / 8
"""Parts of the error that the stages take: one first, one whole run and two slower ones add up to 1."""
MOST_FRAC = 0.8
"""Share of seeds that have to fall where an interval over few of them is wide: four of five."""
LENGTH = Option(
    "length", "share of the run's steps of each training; without it a quarter is tried first", positive=True
)
RATE = Option("rate", "a factor on the learning rate, the same in both arms", positive=True)


def symptom(controls: Sequence[Measures], subject: Subject) -> str:
    """Return "" when the control fails; in a training shorter than the run only its not rising counts as that.

    What is expected of a whole run is not reached by a part of it, be the run well or not; and a trainer that rises at
    first may still turn round. Made slower, it may rise or not: that it falls has been seen at its own rate.
    """
    if float(subject.given.get("rate", 1.0)) < 1.0:
        return ""
    if float(subject.given.get("length", 1.0)) < 1.0:
        subject = replace(subject, given={k: v for k, v in subject.given.items() if k != EXPECT.name})
    return falls_short(controls, subject)


def stages(subject: Subject, made: Sequence[Result]) -> Stage | None:
    """Try a quarter of the run; then slower steps where the policy fell either way, else the whole run."""
    if LENGTH.name in subject.given or RATE.name in subject.given:
        return None if made else Stage()
    if not made:
        return _short("Each training took a quarter of the run's steps; more are made only where these decide nothing.")
    rate = float(made[-1].plan.subject.given.get(RATE.name, 1.0))
    slower = [slow for slow in SLOWER if slow < rate]
    if fell_either_way(made[-1]) and slower:
        words = (
            f"Each training took a quarter of the run's steps, with its learning rate times {slower[0]:g} in both arms"
        )
        return _short(f"{words}: with more of it the policy fell, whichever way it was paid.", rate=slower[0])
    words = "Each training was as long as the run: a quarter of it had decided nothing."
    return Stage(words, {}, WHOLE_FRAC) if len(made) == 1 else None


def _short(words: str, **given: Any) -> Stage:
    return Stage(words, {LENGTH.name: QUARTER, **given}, SLOWER_FRAC if given else FIRST_FRAC, SOME_PAIRS)


def fell_either_way(result: Result) -> bool:
    """Whether both arms ended below the untrained start."""
    own = [pair.control["score"] - pair.control["start"] for pair in result.pairs]
    reversed_ = [pair.changed["score"] - pair.control["start"] for pair in result.pairs]
    return bool(own) and _fell(own) and _fell(reversed_)


def _fell(gains: Sequence[float]) -> bool:
    """Whether the mean is below 0, with its 95 % interval or with most of the seeds."""
    seen = interval(gains, 0.05)
    return seen.hi < 0 or (seen.mean < 0 and sum(gain < 0 for gain in gains) >= MOST_FRAC * len(gains))


def length_and_rate(trial: Trial) -> tuple[float, float]:
    """Return the share of the run's steps that a training takes, and the factor on its learning rate."""
    given = trial.subject.given
    return float(given.get("length", 1.0)), float(given.get("rate", 1.0))


def slowed(trial: Trial, rate: float) -> dict[str, Any]:
    """Return the settings with every learning rate times `rate`.

    Raises:
        ValueError: the trainer has none that is known, or its rate is no number: this stage says nothing then.
    """
    try:
        settings, _ = change(trial.subject, "learning_rate", lambda value: rate * float(value))
    except (InputError, TypeError, ValueError) as error:
        raise ValueError(f"its learning rate cannot be lowered: {error}") from error
    return settings
