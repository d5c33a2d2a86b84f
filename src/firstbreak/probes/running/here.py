"""Trainings in this process, one after the other: for tests and for callables that no child could import."""

from __future__ import annotations

from collections.abc import Iterable

from ..ladder.outcome import Outcome
from ..ladder.rungs import rungs
from ..ladder.trial import Order
from .training import Reached, carry_out


class Here:
    """Does each training when it is asked for."""

    def __init__(self, reached: Reached, seconds: float = 0.0) -> None:
        self.reached, self.seconds = reached, seconds

    def get(self, orders: Iterable[Order]) -> list[Outcome]:
        """Return the outcomes of `orders`."""
        return [carry_out(self.reached, rungs()[o.rung], o, seconds=self.seconds) for o in orders]

    def stop(self) -> None:
        """Nothing is under way ahead of being asked for."""
