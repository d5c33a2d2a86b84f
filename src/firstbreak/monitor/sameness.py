"""What is exactly alike among the steps of a row: observations that stand still, twins with other ends, rewards."""

from __future__ import annotations

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

    def pay(self, reward: float) -> None:
        """Count the reward of one step."""
        if self._paid < MOST_STEPS:
            self._paid += 1
            self._rewards.add(reward)

    def step(self, before: Floats, action: Floats, after: Floats) -> None:
        """Count one step: observation [D] before and after it, and the action [A]."""
        if self._steps >= MOST_STEPS:
            return
        self._steps += 1
        then, now = before.tobytes(), after.tobytes()
        self._held += then == now
        self._copied += now == self._last and then != now
        self._last = now
        self._contradicted += self._led_to.setdefault(then + action.tobytes(), now) != now

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
