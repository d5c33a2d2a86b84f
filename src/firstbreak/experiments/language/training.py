"""One short training of a language model, and its curves.

A trainer is any function `train(*, updates, seed, log, **settings)` that calls `log(metrics, update)` after each
update. The changed variable is one more keyword argument; the experiment says which. `language:GRPO` and
`language:AsyncGRPO` are the small trainers of firstbreak itself.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np

from ...errors import InputError
from ...target import load_target
from ..experiment import Measures, Need, Option, Pair
from ..subject import Subject
from ..trial import Trial

LANGUAGE_TRAINER = Need(
    "trainer",
    "TRAINER: module:train, called train(*, updates, seed, log, **settings); or language:GRPO, language:AsyncGRPO",
)
UPDATES = 60
"""Updates of one training, unless steps are given. Engineering default for the small trainers."""
SCORES = ("reward/eval_mean", "reward/true_objective", "reward/success_rate", "reward/train_mean")
"""What says how well it does, the first that is logged; `score=METRIC` names another."""
SCORE = Option("score", f"the metric that says how well it does, instead of the first logged of {', '.join(SCORES)}")
OWN_ARGUMENT = Option("*_argument", "your trainer's name for the keyword that is changed: prompts_argument=split")
END_FRAC = 0.25
"""Share of the training over which its end is averaged. Engineering default."""
START_FRAC = 0.1
"""The same for its start."""
SMALL_FRAC = 0.05
"""Difference of scores that matters, as a share of their scale. Engineering default: five points of a pass rate."""


@dataclass
class Curves:
    """What a training logged: metric -> values, with the update each belongs to."""

    updates: dict[str, list[float]] = field(default_factory=dict[str, "list[float]"])
    values: dict[str, list[float]] = field(default_factory=dict[str, "list[float]"])

    def add(self, metrics: Mapping[str, Any], update: float) -> None:
        """Keep one row; what is no number is left out."""
        for name, value in metrics.items():
            if isinstance(value, int | float) and math.isfinite(value):
                self.updates.setdefault(name, []).append(float(update))
                self.values.setdefault(name, []).append(float(value))

    def start(self, name: str) -> float:
        """Mean over the first tenth of the training, at least one value."""
        return float(np.mean(self._part(name, until=START_FRAC)))

    def end(self, name: str) -> float:
        """Mean over the last quarter of the training, at least one value."""
        return float(np.mean(self._part(name, since=1 - END_FRAC)))

    def rise(self, name: str) -> float:
        """How much it rose from start to end."""
        return self.end(name) - self.start(name)

    def _part(self, name: str, since: float = 0.0, until: float = 1.0) -> Sequence[float]:
        if name not in self.values:
            shown = ", ".join(sorted(self.values)[:12]) or "nothing"
            raise InputError(f"The trainer logged no {name}.", f"It logged {shown}; name another with --with.")
        last = max(max(steps) for steps in self.updates.values())
        at, values = np.array(self.updates[name]) / max(last, 1.0), self.values[name]
        chosen = [v for t, v in zip(at, values, strict=True) if since <= t <= until]
        return chosen or ([values[-1]] if since else [values[0]])


OWN = "own"
"""The value of a changed variable that leaves a setting as the user has it."""


def train(trial: Trial, **changed: Any) -> Curves:
    """Train once, with `changed` on top of the subject's own settings, and return the curves.

    Raises:
        InputError: the trainer does not take a changed setting, or logs nothing.
    """
    subject = trial.subject
    function = trainer_of(subject)
    names = {name: str(subject.given.get(f"{name}_argument", name)) for name in changed}
    put = {names[name]: value for name, value in changed.items() if value != OWN}
    settings = {**subject.settings, **put}
    _insist(function, subject.trainer, settings, list(put))
    kept = {name: value for name, value in subject.settings.items() if name not in names.values()}
    trial.uses(**kept, **{name: settings.get(names[name], OWN) for name in changed})
    curves = Curves()

    def log(metrics: Mapping[str, Any], update: float) -> None:
        trial.beat(int(update))
        curves.add(metrics, update)

    function(updates=subject.steps or UPDATES, seed=trial.seed, log=log, **settings)
    if not curves.values:
        raise InputError(f"{subject.trainer} logged nothing.", "Call log(metrics, update) after each update.")
    shown = {name: values for name, values in curves.values.items() if not name.startswith(("time/", "perf/"))}
    trial.fingerprint = blake2b(repr(sorted(shown.items())).encode(), digest_size=8).hexdigest()
    return curves


def trainer_of(subject: Subject) -> Callable[..., Any]:
    """Return the function that trains.

    Raises:
        InputError: there is no such trainer.
    """
    if subject.trainer.startswith("language:"):
        from .reference import builtin

        return builtin(subject.trainer.partition(":")[2])
    return load_target(subject.trainer)


def _insist(function: Callable[..., Any], trainer: str, settings: Mapping[str, Any], changed: Sequence[str]) -> None:
    """Refuse a trainer that does not take what it is going to be given."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return
    missing = [name for name in ("updates", "seed", "log", *settings) if name not in parameters]
    if missing:
        what = ", ".join(missing)
        hint = "It is called train(*, updates, seed, log, **settings)."
        if set(missing) & set(changed):
            hint = f"Give it a keyword {missing[-1]}, or name the one it has: --with {missing[-1]}_argument=NAME"
        raise InputError(f"{trainer} takes no {what}.", hint)


def score_of(subject: Subject, curves: Curves) -> str:
    """Return the metric that says how well it does."""
    asked = subject.given.get("score")
    if asked:
        return str(asked)
    return next((name for name in SCORES if name in curves.values), SCORES[0])


def share_of_scale(pairs: Sequence[Pair], subject: Subject) -> float:
    """Return 5 % of the scale of the scores: of 1 where they are shares, else of the largest."""
    del subject
    scores = [abs(m["score"]) for p in pairs for m in (p.control, p.changed)]
    return SMALL_FRAC * max(1.0, *scores) if max(scores) > 1 else SMALL_FRAC


def mean_of(controls: Sequence[Measures], name: str) -> float:
    """Return the mean of a measure over the control's seeds."""
    return sum(c[name] for c in controls) / len(controls)
