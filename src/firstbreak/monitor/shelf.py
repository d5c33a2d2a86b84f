"""Rows that some tracks have not taken yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .layouts import Batch

MANY_ROWS, MANY_BATCHES = 256, 32
"""Rows, and batches of them, that a shelf holds before all tracks take theirs. Engineering choice: memory."""


@dataclass(frozen=True)
class Columns:
    """Which keys of a layout are looked at: key -> column; and those whose rows tell of the row before."""

    places: Mapping[str, int]
    lagging: Sequence[str]


class Shelf:
    """Batches of rows that some tracks have not taken yet."""

    def __init__(self) -> None:
        self._batches: list[tuple[Batch, Columns]] = []
        self._rows = 0
        self._start = 0
        self._joined: dict[int, list[tuple[Batch, Columns]]] = {}

    @property
    def end(self) -> int:
        """Batches that were ever added."""
        return self._start + len(self._batches)

    @property
    def full(self) -> bool:
        """Whether all tracks are to take what is theirs."""
        return self._rows > MANY_ROWS or len(self._batches) > MANY_BATCHES

    def add(self, batch: Batch, columns: Columns) -> None:
        """Take a batch."""
        self._batches.append((batch, columns))
        self._rows += len(batch.step)
        self._joined.clear()

    def clear(self) -> None:
        """Forget all: every track has taken what is its own."""
        self._start, self._rows = self.end, 0
        self._batches.clear()
        self._joined.clear()

    def since(self, taken: int, key: str) -> list[tuple[Batch, int]]:
        """Return the batches that hold `key`, of those that came after the first `taken`, and its column in them."""
        first = max(taken - self._start, 0)
        if first not in self._joined:
            self._joined[first] = _joined(self._batches[first:])
        return [(batch, columns.places[key]) for batch, columns in self._joined[first] if key in columns.places]


def _joined(batches: Sequence[tuple[Batch, Columns]]) -> list[tuple[Batch, Columns]]:
    """Return one batch for each layout."""
    alike: dict[tuple[str, ...], list[tuple[Batch, Columns]]] = {}
    for batch, columns in batches:
        alike.setdefault(batch.keys, []).append((batch, columns))
    return [(_one(keys, [batch for batch, _ in group]), group[0][1]) for keys, group in alike.items()]


def _one(keys: tuple[str, ...], batches: Sequence[Batch]) -> Batch:
    if len(batches) == 1:
        return batches[0]
    number, step, before, wall = (
        np.concatenate([getattr(batch, name) for batch in batches]) for name in ("number", "step", "before", "wall")
    )
    return Batch(keys, number, step, before, wall, np.concatenate([batch.values for batch in batches]))
