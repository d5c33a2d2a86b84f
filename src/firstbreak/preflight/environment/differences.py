"""Where two recordings of what should be the same episode first differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .world import Array, Episode

SAME = 1e-9
"""Relative difference that is still called the same: a thousand times finer than float32 can hold."""


@dataclass(frozen=True)
class Difference:
    """The first step at which two episodes differ; step 0 is the observation that `reset` returned."""

    step: int
    where: str
    one: float
    other: float

    @property
    def text(self) -> str:
        """The two values, short."""
        return f"{self.where} {self.one:.6g} against {self.other:.6g}"


def first_difference(a: Episode, b: Episode, names: Sequence[str] = ()) -> Difference | None:
    """Return where `a` and `b` first differ in observations, rewards, flags or length; None when they are the same."""
    found: list[Difference] = []
    rows = min(len(a.observations), len(b.observations))
    if a.observations.shape[1:] != b.observations.shape[1:]:
        return Difference(0, "observation size", a.observations.shape[1], b.observations.shape[1])
    seen = _first(a.observations[:rows], b.observations[:rows])
    if seen is not None:
        step, column = seen
        name = names[column] if column < len(names) else f"observation[{column}]"
        found.append(Difference(step, name, *(float(e.observations[step, column]) for e in (a, b))))
    steps = min(a.length, b.length)
    for name in ("rewards", "terminated", "truncated"):
        one, other = (np.asarray(getattr(e, name)[:steps], float)[:, None] for e in (a, b))
        where = _first(one, other)
        if where is not None:
            label = "reward" if name == "rewards" else name
            found.append(Difference(where[0] + 1, label, float(one[where[0], 0]), float(other[where[0], 0])))
    if a.length != b.length:
        found.append(Difference(steps + 1, "length", a.length, b.length))
    return min(found, key=lambda d: d.step, default=None)


def _first(a: Array, b: Array) -> tuple[int, int] | None:
    """Row and column of the first entry that differs; NaN equals NaN."""
    with np.errstate(invalid="ignore"):
        size = np.maximum(np.abs(a), np.abs(b))
        apart = (a != b) & ~(np.isnan(a) & np.isnan(b))
        apart &= ~(np.abs(a - b) <= SAME * size)
    rows = np.flatnonzero(apart.any(axis=1))
    return (int(rows[0]), int(np.argmax(apart[rows[0]]))) if len(rows) else None
