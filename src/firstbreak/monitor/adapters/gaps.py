"""What is 0 but for rounding: the largest of a row is kept, and what is not is worth a row of its own."""

from __future__ import annotations

from ..ranges import SETTLED

OFF = 1e-3
"""Gap, in nats or as a share, that is told at once: rounding is below 1e-5."""
AT_ONCE = 4
"""Looks that are told at once from one row of the trainer to the next: a rule has what it asks for."""


class Gaps:
    """The largest gap of a row, and which ones are worth a row of their own.

    Args:
        metric: Under which name they are told.
        settle: Whether the first ones are told whatever they are: only of what it has seen some values of does a
            monitor know at once that another is news, and rows of trainers that collect rollouts are few.
    """

    def __init__(self, metric: str, *, settle: bool = False) -> None:
        self.metric = metric
        self._unsettled = SETTLED if settle else 0
        self._largest: float | None = None
        self._told = 0

    def add(self, found: float) -> bool:
        """Take one gap; return whether it is to be told at once. NaN is."""
        if self._largest is None or not found <= self._largest:
            self._largest = found
        if self._unsettled:
            self._unsettled -= 1
            return True
        if found <= OFF or self._told >= AT_ONCE:
            return False
        self._told += 1
        return True

    def take(self) -> dict[str, float]:
        """Return the largest since the last call."""
        largest, self._largest, self._told = self._largest, None, 0
        return {} if largest is None else {self.metric: largest}
