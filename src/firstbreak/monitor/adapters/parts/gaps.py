"""What is 0 by construction: the largest of a row is kept, and what is not 0 is worth a row of its own."""

from __future__ import annotations

from ....vocabulary import metric

AT_ONCE = 4
"""Looks that are told at once from one row of the trainer to the next: a rule has what it asks for."""


class Gaps:
    """The largest gap of a row, and which ones are worth a row of their own.

    Args:
        name: Of the metric as which they are told: its table says what still is rounding.
    """

    def __init__(self, name: str) -> None:
        self.metric, self.zero = name, metric(name).zero
        self._largest: float | None = None
        self._told = 0

    def add(self, found: float) -> bool:
        """Take one gap; return whether it is to be told at once. NaN is."""
        if self._largest is None or not found <= self._largest:
            self._largest = found
        if found <= self.zero or self._told >= AT_ONCE:
            return False
        self._told += 1
        return True

    def take(self) -> dict[str, float]:
        """Return the largest since the last call."""
        largest, self._largest, self._told = self._largest, None, 0
        return {} if largest is None else {self.metric: largest}
