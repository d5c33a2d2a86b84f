"""`Plan`: what is going to be done and what is expected of it, written down before anything runs; and the guard."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from ..errors import ConfigError, InputError
from .experiment import Experiment
from .subject import Subject

ALPHA = 0.05
"""Two-sided error of a verdict, over all looks together. Engineering default: the usual one."""
POWER = 0.8
"""Chance of a verdict when the effect is twice the margin, or none. Engineering default: the usual one (Cohen 1988)."""
MOST = 20
"""Pairs of seeds at most, unless the user says otherwise. Engineering default."""
LOOKS = 4
"""Looks at most: after the pilot, and three more. Later looks gain little (Jennison and Turnbull 2000, section 2.5)."""


@dataclass(frozen=True)
class Protocol:
    """How an experiment is run, apart from what it is."""

    seeds: int | None = None
    """Pairs of seeds; None: a pilot, then as many as its variance asks for."""
    most: int = MOST
    first_seed: int = 0
    margin: float | None = None
    """The smallest effect that matters, in the unit of the effect; None: the experiment's own rule."""
    alpha: float = ALPHA
    power: float = POWER

    def __post_init__(self) -> None:
        if self.seeds is not None and self.seeds < 2:
            raise ConfigError(f"{self.seeds} seed cannot be told from luck.", "Give two or more, or auto.")
        if self.first_seed < 0:
            raise ConfigError(f"Seeds from {self.first_seed} on: a seed is 0 or more.", "Give --first-seed 0 or more.")
        if self.margin is not None and not 0 < self.margin < float("inf"):
            raise ConfigError(f"A margin of {self.margin:g} is not a positive number.", "Give the smallest effect.")
        if self.most < 2:
            raise ConfigError("An experiment needs at least two pairs of seeds.", "Give --most-seeds 2 or more.")


@dataclass(frozen=True)
class Plan:
    """Said before the run. `Result` holds it unchanged."""

    experiment: str
    subject: Subject
    hypothesis: str
    prediction: str
    changes: str
    control: Mapping[str, Any]
    """The settings of the control arm."""
    changed: Mapping[str, Any]
    first_seed: int
    pilot: int
    """Pairs of seeds at the first look."""
    most: int
    """Pairs of seeds at the last look."""
    alpha: float
    power: float
    confirms: str
    unit: str
    margin: float | None
    """None: worked out from the pilot by the experiment's own rule, before the first verdict."""
    runs: float
    """Trainings of full length for one pair of seeds; 0 where no learning curve is needed."""
    cost: str
    link: str = ""
    component: str = ""
    """What a confirmed hypothesis convicts."""
    made: str = ""
    """Date and time, UTC."""
    seconds: float | None = None
    """Seconds of the pilot's trials together, worked out from the first one; None as long as none has ended."""
    notes: tuple[str, ...] = field(default=())
    one_proves: bool = False
    """One pair that shows the effect confirms the hypothesis, without an interval."""


def plan(one: Experiment, subject: Subject, protocol: Protocol, made: str = "") -> Plan:
    """Return the plan of `one` on `subject`.

    Raises:
        InputError: the subject lacks something that the experiment needs, or is to be trained for no steps.
        ConfigError: more than one variable differs between the arms, or none does.
    """
    subject.insist(one)
    if subject.steps is not None and subject.steps < 1:
        raise InputError(f"A training of {subject.steps} steps is none.", "Give --steps 1 or more.")
    control, changed = one.arms
    insist_on_one_difference(control, changed, one.changes)
    fixed = one.reading.margin if isinstance(one.reading.margin, int | float) else None
    most = protocol.seeds or max(protocol.most, 2)
    pilot, cost, unit = one.priced(subject)
    return Plan(
        experiment=one.name,
        subject=subject,
        hypothesis=one.hypothesis,
        prediction=one.prediction,
        changes=one.changes,
        control=control,
        changed=changed,
        first_seed=protocol.first_seed,
        pilot=min(pilot, most),
        most=most,
        alpha=protocol.alpha,
        power=protocol.power,
        confirms=one.reading.confirms.value,
        unit=unit,
        margin=protocol.margin if protocol.margin is not None else fixed,
        runs=cost.runs,
        cost=cost.words,
        link=one.link.value,
        component=one.component.value,
        made=made,
        one_proves=one.reading.one_proves and protocol.seeds is None,
    )


def differences(control: Mapping[str, Any], changed: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the variables in which two arms differ; tables within tables by dotted names."""
    left, right = _flat(control), _flat(changed)
    absent = object()
    return tuple(k for k in sorted({*left, *right}) if not _same(left.get(k, absent), right.get(k, absent)))


def insist_on_one_difference(control: Mapping[str, Any], changed: Mapping[str, Any], variable: str) -> None:
    """Refuse arms that differ in anything but `variable` (which may be a table of its own).

    Raises:
        ConfigError: nothing differs, or more than that one variable does.
    """
    found = differences(control, changed)
    if not found:
        raise ConfigError(f"Both arms have the same {variable}: nothing is changed.", "Change exactly one variable.")
    others = [name for name in found if name != variable and not name.startswith(variable + ".")]
    if others:
        raise ConfigError(
            f"The arms differ in {', '.join(found)}, not in {variable} alone.",
            "An experiment that changes two things convicts neither: make two experiments.",
        )


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and (a == b or (isinstance(a, float) and math.isnan(a) and math.isnan(b)))


def _flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            flat |= _flat(cast("Mapping[str, Any]", value), f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat
