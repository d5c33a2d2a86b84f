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
        """Count some steps, one after the other: observations [m, D] before and after them, and actions [m, A]."""
        many = min(len(before), MOST_STEPS - self._steps)
        if many <= 0:
            return
        self._steps += many
        width, wide = 8 * before.shape[1], 8 * action.shape[1]
        thens, acts, nows = before.tobytes(), action.tobytes(), after.tobytes()
        last, led_to = self._last, self._led_to
        for place in range(many):
            spot = width * place
            then, now = thens[spot : spot + width], nows[spot : spot + width]
            self._held += then == now
            self._copied += now == last and then != now
            last = now
            self._contradicted += led_to.setdefault(then + acts[wide * place : wide * (place + 1)], now) != now
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
