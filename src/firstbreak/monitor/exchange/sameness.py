"""What is exactly alike among the steps of a row: observations that stand still, twins with other ends, rewards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MOST_STEPS = 4096
"""Steps of one row that are compared with one another, so that memory stays bounded."""


class Sameness:
    """Counts over the steps of one row. Comparisons are exact: no tolerance, no statistics."""

    def __init__(self) -> None:
        self._steps = self._held = self._contradicted = self._paid = self._copied = 0
        self._last = b""
        """What the step before led to: of another copy, where there are several."""
        self._led_to: dict[bytes, bytes] = {}
        """Observation and action -> what they led to when they first came together."""
        self._rewards: set[float] = set()

    def pay(self, rewards: Sequence[float]) -> None:
        """Count the rewards of some steps."""
        taken = rewards[: MOST_STEPS - self._paid]
        self._paid += len(taken)
        self._rewards.update(taken)

    def step(self, before: Floats, action: Floats, after: Floats) -> None:
        """Count some steps, one after the other: observations [m, D] before and after them, and actions [m, A]."""
        many = min(len(before), MOST_STEPS - self._steps)
        if many <= 0:
            return
        self._steps += many
        last, led_to = self._last, self._led_to
        for then, act, now in zip(_rows(before[:many]), _rows(action[:many]), _rows(after[:many]), strict=True):
            if then == now:
                self._held += 1
            elif now == last:
                self._copied += 1
            last = now
            known = led_to.setdefault(then + act, now)
            if known is not now and known != now:
                self._contradicted += 1
        self._last = last

    def numbers(self) -> dict[str, float]:
        """Return the shares of the steps counted."""
        found: dict[str, float] = {}
        if self._paid:
            found["reward/env_distinct_frac"] = len(self._rewards) / self._paid
        if self._steps:
            found["env/held_frac"] = self._held / self._steps
            found["env/copies_alike_frac"] = self._copied / self._steps
            found["env/contradicted_frac"] = self._contradicted / self._steps
        return found


def _rows(table: Floats) -> Iterator[bytes]:
    """Yield each row of a table [m, D] as what it is made of."""
    held, wide = table.tobytes(), 8 * table.shape[1]
    return (held[spot : spot + wide] for spot in range(0, len(held), wide))
