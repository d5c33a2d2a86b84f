"""What the monitor answers: go on or not, and why. Plain data."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ..finding import Finding, Number, Severity


class Action(StrEnum):
    """What a training loop should do next, mildest first."""

    CONTINUE = "continue"
    STOP_UPDATE = "stop_update"
    """Leave out the rest of this update: the remaining epochs or minibatches."""
    STOP_TRAINING = "stop_training"
    ROLL_BACK = "roll_back"
    """Restore the last healthy checkpoint and go on from there."""

    @property
    def rank(self) -> int:
        """0 for continue, 3 for roll back."""
        return list(Action).index(self)


@dataclass(frozen=True)
class Alarm:
    """A finding that was raised while the run went: `at` is the position of the newest row when it was."""

    finding: Finding
    at: float
    """On the run's clock."""
    row: int
    """Rows logged when it was raised, this one included."""
    wall: float
    """Seconds since the epoch."""
    action: Action = Action.CONTINUE
    """What the user's policy makes of it."""
    cause: str = ""
    """The likeliest cause as known then, `""` when none was found."""
    alerted: bool = True
    """False when a cooldown or an alert for the same cause kept it quiet."""


@dataclass(frozen=True)
class Verdict:
    """The answer to one `Monitor.log`: what to do, and the alarms that were raised by this row."""

    action: Action = Action.CONTINUE
    alarms: tuple[Alarm, ...] = ()

    def __str__(self) -> str:
        """Return the action and what each alarm says, in one line for a terminal."""
        told = "; ".join(f"{alarm.finding.name}: {alarm.finding.message}" for alarm in self.alarms)
        shown = f"{self.action} ({told})" if told else self.action.value
        return "".join(letter for letter in shown if letter.isprintable())  # what a log named reaches no terminal raw

    @property
    def proceed(self) -> bool:
        """Whether the loop goes on as if nothing had been seen."""
        return self.action is Action.CONTINUE

    @property
    def stop_update(self) -> bool:
        """Whether the rest of this update is to be left out (also true of everything that goes further)."""
        return self.action is not Action.CONTINUE

    @property
    def stop_training(self) -> bool:
        """Whether training is to end here."""
        return self.action is Action.STOP_TRAINING

    @property
    def roll_back(self) -> bool:
        """Whether to restore the last healthy checkpoint."""
        return self.action is Action.ROLL_BACK


@dataclass(frozen=True)
class Notice:
    """An alarm as it is sent out: what a person must read, in plain text."""

    level: Severity
    title: str
    """One line: what was seen and where."""
    text: str
    """What was measured, the likely cause, what was done; a few lines."""
    run: str
    rule: str
    name: str
    link: str
    metric: str
    step: float
    clock: str
    action: str
    wall: float
    cause: str = ""
    evidence: Mapping[str, Number] = field(default_factory=dict[str, Number])

    @property
    def place(self) -> str:
        """Where it was seen, to be read: `env step 1,234,567`."""
        return place(self.step, self.clock)

    @property
    def id(self) -> str:
        """The same for one notice however often it is sent, and no other's: 32 hexadecimal digits of its hash."""
        body = json.dumps(self._plain(), sort_keys=True).encode()
        return hashlib.sha256(body).hexdigest()[:32]

    def to_dict(self) -> dict[str, Any]:
        """Return the notice as JSON can hold it, with its `id`, and NaN and infinities as texts."""
        return {"id": self.id, **self._plain()}

    def _plain(self) -> dict[str, Any]:
        plain = {**vars(self), "level": str(self.level), "evidence": dict(self.evidence)}
        return {key: _json(value) for key, value in plain.items()}


ONE = {"updates": "update", "env_steps": "env step", "seconds": "second", "rows": "row"}
"""What one of each clock's units is called."""


def place(step: float, clock: str) -> str:
    """Return where `step` lies on a clock, to be read: `env step 1,234,567`."""
    whole = math.isfinite(step) and step == int(step)
    return f"{ONE.get(clock, 'step')} {int(step) if whole else step:,}"


def together(parts: Sequence[Verdict]) -> Verdict:
    """Return one answer of several: the sternest action, all alarms."""
    action = max((part.action for part in parts), key=lambda a: a.rank)
    return Verdict(action, tuple(alarm for part in parts for alarm in part.alarms))


def _json(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _json(v) for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
