"""The experiment `one-setting`."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import InputError
from ...finding import Component, Link
from ..control.knobs import OWN_NAME
from ..control.one_setting import SETTING, VALUE, change_of, keyword_of
from ..control.readings import EXPECT, falls_short, share_of_span
from ..control.training import SCORED, train_and_score
from ..experiment import TRAINER, Cost, Measures, Option, Pair, Reading, Side, experiment
from ..language.training import OWN, SCORE, score_of, share_of_scale, train, trainer_of
from ..subject import Subject
from ..trial import Trial

MOVES = {"up": 1.0, "down": -1.0}


def _margin(pairs: Sequence[Pair], subject: Subject) -> float:
    return share_of_span(pairs, subject) if subject.env else share_of_scale(pairs, subject)


def _symptom(controls: Sequence[Measures], subject: Subject) -> str:
    return falls_short(controls, subject) if subject.env else ""


@experiment(
    "one-setting",
    hypothesis="This one setting, as it is, holds the trainer down.",
    changes="setting",
    control=OWN,
    changed="given",
    prediction="With the setting changed to the given value, the score is higher.",
    needs=(TRAINER, SETTING, VALUE),
    options=(
        *SCORED,
        EXPECT,
        OWN_NAME,
        SCORE,
        Option("reading", "of a language model: the metric that is read"),
        Option("moves", "which way it is to go, instead of up", tuple(MOVES)),
    ),
    cost=Cost(2.0, "two trainings for each pair of seeds"),
    reading=Reading(
        effect=lambda control, changed: changed["score"] - control["score"],
        confirms=Side.ABOVE,
        margin=_margin,
        symptom=_symptom,
        unit="score",
    ),
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
)
def measure(trial: Trial) -> Measures:
    """This one setting, as it is, holds the trainer down.

    What is changed:
        One setting (`setting`) of the trainer, from what it is to `value`. It is called by the trainer's own name or by
        what it means (entropy_coefficient, kl_coefficient, discount, exploration_fraction, temperature ...). `x10`
        stands for ten times what it is. A second setting is refused: two changes convict neither.

    Prediction:
        If the setting is what holds it down, the score rises. Of a language model (no `--env`) another metric may be
        read, `reading=METRIC`, which is to move `moves=up` (the default) or `moves=down`.

    How the verdict is drawn:
        Confirmed when changed minus control lies above the margin (5 % of the scale for language models), refuted when
        below it. On an environment a control that learns as it should (`expect`) has nothing to explain.

    Cost:
        Two trainings for each pair of seeds.

    When it cannot decide:
        When the value that is tried is no better than the old one, it is refuted although another value might help.

    References:
        None; the comparison reads off a definition.
    """
    given = trial.settings["setting"] == "given"
    if not trial.subject.env:
        return _of_language(trial, given)
    settings, value = change_of(trial.subject)
    trial.uses(setting=value if given else OWN)
    return train_and_score(trial, settings=settings if given else None)


def _of_language(trial: Trial, given: bool) -> Measures:
    """Train a language model and return what is read, with its sign turned where it is to fall."""
    moves = str(trial.subject.given.get("moves", "up"))
    if moves not in MOVES:
        raise InputError(f"moves={moves} is no direction.", f"Known are {', '.join(MOVES)}.")
    keyword, value = keyword_of(trial.subject, trainer_of(trial.subject))
    curves = train(trial, **{keyword: value if given else OWN})
    trial.used.pop(keyword, None)
    trial.uses(setting=value if given else OWN)
    reading = str(trial.subject.given.get("reading") or score_of(trial.subject, curves))
    return {"score": MOVES[moves] * curves.end(reading)}
