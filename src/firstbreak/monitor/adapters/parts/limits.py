"""Where episodes are cut, of trainers that hand over the ends of many steps at once: see `exchange/limit.py`."""

from __future__ import annotations

from typing import Any, cast

from numpy.typing import NDArray

from ...exchange.limit import Cuts, Limit

MOST_COPIES = 8
"""Copies of the environment whose episodes are counted. Engineering choice: they share their limit."""


class Limits:
    """Counts the episodes of a few copies; steps that were not seen make it begin anew."""

    def __init__(self) -> None:
        self._copies: list[Limit] = []
        self._cuts = Cuts()

    def add(self, over: NDArray[Any], ended: NDArray[Any]) -> None:
        """Take steps in a row [T, N] of all copies: whether each ended an episode, and whether by itself."""
        if len(self._copies) != over.shape[1]:
            self._copies = [Limit() for _ in range(over.shape[1])]
        for copy, overs, ends in zip(self._copies, over.T.tolist(), ended.T.tolist(), strict=True):
            for done, itself in zip(cast("list[float]", overs), cast("list[float]", ends), strict=True):
                self._cuts.add(copy.step(terminated=bool(itself), truncated=bool(done) and not itself))
                if done or itself:
                    copy.reset()

    def forget(self) -> None:
        """Say that steps were taken that nobody saw: what comes next may begin in the middle of an episode."""
        self._copies = []

    def take(self) -> dict[str, float]:
        """Return the least share since the last call, see `Cuts.take`."""
        return self._cuts.take()
