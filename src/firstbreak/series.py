"""A metric over time: `Curve` as a source holds it, `Series` once its meaning is known.

Arrays are numpy, read-only, and keep NaN, inf and gaps: what is missing is evidence too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


class Confidence(StrEnum):
    """How sure the mapping from source key to canonical metric is. A guess caps findings at `info`."""

    EXACT = "exact"
    """The framework's vocabulary lists this very key."""
    USER = "user"
    """The user mapped it."""
    ALIAS = "alias"
    """The key's words name the quantity plainly (`grad_norm`, `clip_fraction`), whichever framework wrote it."""
    GUESS = "guess"
    """Only similar to a known key."""


@dataclass(frozen=True, order=True)
class Scope:
    """Which part of a run a series speaks of; empty fields mean the whole run."""

    policy: str = ""
    agent: str = ""
    rank: str = ""
    environment: str = ""
    dataset: str = ""
    component: str = ""

    def __str__(self) -> str:
        parts = [f"{name}={value}" for name, value in self.as_dict().items()]
        return ",".join(parts)

    def as_dict(self) -> dict[str, str]:
        """Return the fields that are set."""
        return {name: value for name, value in vars(self).items() if value}


WHOLE_RUN = Scope()


def frozen_floats(values: Any) -> Floats:
    """Return `values` as a read-only float64 array [n]; copies only when needed."""
    array = np.asarray(values, dtype=np.float64)
    if array.flags.writeable:
        array = array.copy() if array.base is not None else array
        array.flags.writeable = False
    return array


@dataclass(frozen=True)
class Curve:
    """Numbers under one key of one source: `step`, `value` and, where logged, `wall` time, each [n].

    `step` is the source's own axis; `wall` is in seconds since the epoch. NaN and inf stay as logged.
    """

    step: Floats
    value: Floats
    wall: Floats | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "step", frozen_floats(self.step))
        object.__setattr__(self, "value", frozen_floats(self.value))
        if self.wall is not None:
            object.__setattr__(self, "wall", frozen_floats(self.wall))
        if not (self.step.ndim == self.value.ndim == 1) or self.step.shape != self.value.shape:
            raise ValueError(f"step {self.step.shape} and value {self.value.shape} must be equal and one-dimensional")

    def __len__(self) -> int:
        return int(self.value.size)


@dataclass(frozen=True)
class Tally:
    """Exact counts and extremes of all points of a series of which only some are kept; as in `firstbreak.view.Points`.

    `total` counts all points, `nonfinite` those that are NaN or inf; the rest are values and positions, NaN if none.
    """

    total: int
    nonfinite: int
    first_nonfinite: float
    first_inf: float
    max: float
    max_at: float
    min: float
    min_at: float


@dataclass(frozen=True)
class Series:
    """A curve whose meaning is known: canonical `metric`, `scope` and how the number was made.

    `step` is monotone non-decreasing after ingestion. `lag_rows` is 1 where a row holds the previous update's number
    (its onset is one row earlier than its step says).
    """

    metric: str
    curve: Curve
    scope: Scope = WHOLE_RUN
    source_key: str = ""
    confidence: Confidence = Confidence.EXACT
    estimator: str = ""
    aggregation: str = ""
    transform: str = ""
    lag_rows: int = 0
    note: str = ""
    whole: Tally | None = None
    """What the series stands for, where memory is bounded and the curve holds only the points a view would keep."""
    custom: dict[str, Any] = field(default_factory=dict[str, Any])
    proven: int = 0
    """Finite numbers on end that it began with before the run was rolled back: fewer may be left, but it is known that
    this key holds numbers and is no padding."""

    @property
    def step(self) -> Floats:
        """The positions [n] on the run's clock."""
        return self.curve.step

    @property
    def value(self) -> Floats:
        """The numbers [n] in the canonical sense and unit."""
        return self.curve.value

    @cached_property
    def finite(self) -> Mask | None:
        """Which of the numbers are finite [n]; None where all are."""
        mask = np.isfinite(self.value)
        return None if mask.all() else mask

    @cached_property
    def extremes(self) -> tuple[float, float]:
        """The smallest and the largest finite number, of all that the series stands for; NaN where there is none."""
        if self.whole is not None:
            return self.whole.min, self.whole.max
        value = self.value if self.finite is None else self.value[self.finite]
        return (float(value.min()), float(value.max())) if value.size else (float("nan"), float("nan"))

    @cached_property
    def begins(self) -> float:
        """The position of the first finite number; NaN where there is none."""
        if self.finite is None:
            return self.step.item(0) if self.step.size else float("nan")
        return self.step.item(int(self.finite.argmax())) if self.finite.any() else float("nan")

    def once(self, ask: Callable[[Series], T]) -> T:
        """Return `ask(self)`, worked out once: every longer prefix of a run asks the same of its first points."""
        if ask not in self._known:
            self._known[ask] = ask(self)
        return self._known[ask]

    @cached_property
    def _known(self) -> dict[Callable[[Series], Any], Any]:
        return {}

    @property
    def wall(self) -> Floats | None:
        """Wall-clock seconds [n], if logged."""
        return self.curve.wall

    def __len__(self) -> int:
        return len(self.curve)
