"""The `@experiment` decorator: an experiment is one file with one hypothesis, one changed variable and one prediction.

The decorated function measures *one arm with one seed* in a child process. It knows nothing of seeds to come, of
statistics or of verdicts; `Reading` says how a pair of measurements becomes an effect, and which effect the hypothesis
predicts. The function's docstring is the page of the experiment.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any

from ..errors import InputError, UnknownNameError, unknown_name
from ..finding import Component, Link
from ..target import is_target, load_target
from .asking import Need, Option

if TYPE_CHECKING:
    from .result import Result
    from .stages import Stage
    from .subject import Subject
    from .trial import Trial

CATALOGUE = "firstbreak.experiments.catalogue"
CURVES_PILOT = 5
"""Pairs of seeds of learning curves: fewer cannot tell luck from effect (a sign test of five equal signs: p = 0.06)."""
READING, SCORE = "reading", "score"
"""The option by which some experiments are told what to measure, and its value for whole trainings that are scored."""

Measures = Mapping[str, float]
"""What one arm yields with one seed: names ending in their unit where they have one -> numbers."""


class Side(StrEnum):
    """Where the effect lies when the hypothesis is true."""

    ABOVE = "above"
    """Above the margin."""
    BELOW = "below"
    """Below the margin: the effect that health predicts is missing."""
    BEYOND = "beyond"
    """Further from 0 than the margin, in either direction."""


@dataclass(frozen=True)
class Pair:
    """What both arms yielded with one seed."""

    seed: int
    control: Measures
    changed: Measures


Margin = Callable[[Sequence[Pair], "Subject"], float]
Symptom = Callable[[Sequence[Measures], "Subject"], str]
Sensitivity = Callable[[Sequence[float], "Subject"], str]
Costing = Callable[["Subject"], "Cost"]
"""subject -> what one pair of its pilot costs, where that hangs on what the subject says."""
Stages = Callable[["Subject", Sequence["Result"]], "Stage | None"]
"""(subject, results of the stages so far, all open) -> the next stage; None when there is none left."""


@dataclass(frozen=True)
class Reading:
    """How the verdict is drawn: the effect of a pair, and the side of the margin on which the hypothesis puts it.

    Confirmed when the interval of the mean effect lies wholly on the predicted side of `margin`, refuted when it lies
    wholly on the other (and `sensitive` has nothing against it), inconclusive otherwise.
    """

    effect: Callable[[Measures, Measures], float]
    """(control, changed) of one seed -> the effect, in `unit`."""
    confirms: Side
    margin: float | Margin
    """The smallest effect that matters, in `unit`: a number, or a function of the pilot's pairs and the subject, called
    once. It is positive; the user may set another."""
    unit: str = "return"
    symptom: Symptom | None = None
    """(control's measures, one for each pilot seed; subject) -> "" when the control shows the symptom, else what it
    shows instead. Asked before the changed arm is run; None where the experiment presupposes no symptom."""
    sensitive: Sensitivity | None = None
    """(effects, subject) -> "" when they show that the experiment could have seen what the hypothesis predicts, else
    why it could not: then nothing is refuted (assay sensitivity; ICH E10, 2000, section 1.5). None where a missing
    effect says enough by itself."""
    exact: bool = False
    """True where the effect is arithmetic and not a learning curve: the same result for every seed is then no sign that
    the seed is ignored."""
    one_proves: bool = False
    """True where the hypothesis says that something happens at all and `exact` measurements cannot show it by luck: the
    first pair with the effect proves it, and no further seed is asked. That it does not happen takes the pilot."""


TRAINER = Need("trainer", "TRAINER: module:train, file.py:train, sb3:ALGO or torchrl:module:make")
ENV = Need("env", "--env: a Gymnasium id or module:factory")


@dataclass(frozen=True)
class Cost:
    """What one pair of seeds costs, in units of the run under suspicion.

    `runs` counts trainings of the subject's full length (2.0: one for each arm); 0 where no learning curve is needed.
    `words` says it to a reader.
    """

    runs: float
    words: str


@dataclass(frozen=True)
class Experiment:
    """A registered experiment; see `experiment` for the fields."""

    name: str
    hypothesis: str
    changes: str
    control: Any
    changed: Any
    prediction: str
    needs: tuple[Need, ...]
    cost: Cost
    reading: Reading
    link: Link
    component: Component
    measure: Callable[[Trial], Any]
    pilot: int = CURVES_PILOT
    together: bool = False
    control_once: bool = False
    costing: Costing | None = None
    options: tuple[Option, ...] = ()
    scored: Cost | None = None
    stages: Stages | None = None
    module: str = ""
    address: str = ""
    """`module:name` or `file.py:name`, by which a child process finds it."""
    doc: str = ""

    @property
    def claim(self) -> str:
        """The first sentence of the page."""
        return self.doc.strip().split("\n", 1)[0]

    def priced(self, subject: Subject) -> tuple[int, Cost, str]:
        """Pairs of seeds of the pilot, what one costs, and the unit of effects, by what the subject asks to be read."""
        if self.scored is not None and subject.given.get(READING) == SCORE:
            return CURVES_PILOT, self.scored, "return"
        return self.pilot, self.costing(subject) if self.costing else self.cost, self.reading.unit

    def reads(self, name: str) -> bool:
        """Whether `--with NAME=VALUE` can mean anything to it."""
        return any(need.name == name for need in self.needs) or any(option.means(name) for option in self.options)

    @property
    def arms(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The settings of control and changed arm."""
        return {self.changes: self.control}, {self.changes: self.changed}


def experiment(
    name: str,
    *,
    hypothesis: str,
    changes: str,
    control: Any,
    changed: Any,
    prediction: str,
    needs: Sequence[Need],
    cost: Cost,
    reading: Reading,
    link: Link,
    component: Component,
    pilot: int = CURVES_PILOT,
    scored: Cost | None = None,
    stages: Stages | None = None,
    together: bool = False,
    control_once: bool = False,
    costing: Costing | None = None,
    options: Sequence[Option] = (),
) -> Callable[[Callable[[Trial], Any]], Experiment]:
    """Turn a function `measure(trial) -> Measures` into an `Experiment`; its docstring is the experiment's page.

    Args:
        name: in kebab case; the file is named after it, with underscores.
        hypothesis: the fault that is suspected, as a sentence that is true or false.
        changes: the one variable that differs between the arms. `control` and `changed` are its values, plain data.
        prediction: what is seen if the hypothesis is true, said before the run.
        needs: what the subject must offer.
        cost: of one pair of seeds.
        reading: how the verdict is drawn.
        link: the link of the loop that a confirmed hypothesis convicts, with its `component`.
        pilot: pairs of seeds before the number of seeds is worked out; two or three for arithmetic.
        scored: cost where `--with reading=score` trains and scores in place of what is measured otherwise.
        stages: forms of the trials that are tried in turn as long as the hypothesis stays open, the cheapest first.
        together: the function measures both arms at once (the same agent, two ways to evaluate it) and returns
            (control's measures, changed's measures).
        control_once: where `together`: the control has only to show the symptom, and the first seed does that.
            With every further seed the changed arm alone is measured, and paired with the first seed's control.
        costing: the cost by what the subject says, told in the plan in place of `cost`.
        options: what else may be given with `--with`; whatever is neither there nor needed is refused.
    """

    def register(function: Callable[[Trial], Any]) -> Experiment:
        return Experiment(
            name=name,
            hypothesis=hypothesis,
            changes=changes,
            control=control,
            changed=changed,
            prediction=prediction,
            needs=tuple(needs),
            cost=cost,
            reading=reading,
            link=link,
            component=component,
            measure=function,
            pilot=pilot,
            scored=scored,
            stages=stages,
            together=together,
            control_once=control_once,
            costing=costing,
            options=tuple(options),
            module=function.__module__,
            address=f"{function.__module__}:{function.__name__}",
            doc=inspect.cleandoc(function.__doc__ or ""),
        )

    return register


@cache
def all_experiments() -> tuple[Experiment, ...]:
    """Return every experiment of the catalogue, sorted by name.

    Raises:
        RuntimeError: a module of the folder holds no experiment or several, or is not named after it.
    """
    package = importlib.import_module(CATALOGUE)
    names = [i.name for i in pkgutil.iter_modules(package.__path__, package.__name__ + ".") if not i.ispkg]
    return tuple(sorted((_of_module(n) for n in names), key=lambda e: e.name))


def _of_module(module: str) -> Experiment:
    found = [
        v for v in vars(importlib.import_module(module)).values() if isinstance(v, Experiment) and v.module == module
    ]
    if len(found) != 1:
        raise RuntimeError(f"{module} must hold exactly one experiment, found {len(found)}")
    if found[0].name.replace("-", "_") != module.rpartition(".")[2]:
        raise RuntimeError(f"{module} holds the experiment {found[0].name}; a file is named after its experiment")
    return found[0]


def names() -> tuple[str, ...]:
    """Return the names in the catalogue, without importing its files."""
    package = importlib.import_module(CATALOGUE)
    return tuple(sorted(i.name.replace("_", "-") for i in pkgutil.iter_modules(package.__path__) if not i.ispkg))


def find_experiment(name: str) -> Experiment:
    """Return the experiment called `name` (also with underscores or spaces), or one of yours, `module:name`.

    Raises:
        UnknownNameError: there is none; the hint offers the nearest.
        InputError: what the address names is no experiment.
    """
    if is_target(name):
        found = load_target(name)
        if not isinstance(found, Experiment):
            raise InputError(f"{name} is {type(found).__name__}, no experiment.", "Decorate it with @experiment.")
        return replace(found, address=name)
    wanted = "-".join(name.strip().lower().replace("_", " ").split())
    if wanted not in names():
        error = unknown_name("experiment", name, names())
        raise UnknownNameError(error.message, error.hint or "List them: firstbreak experiment")
    return _of_module(f"{CATALOGUE}.{wanted.replace('-', '_')}")
