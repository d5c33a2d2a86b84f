"""Rows as they come, kept by the keys they share until they are put into tracks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite

import numpy as np

from ..series import Floats

MAX_LAYOUTS = 4096
MAX_LAYOUT_KEYS = 1 << 18
"""Keys in all layouts together that are remembered, beside one layout of any size: thousands of different rows of
thousands of keys would be gigabytes. Engineering choice: 2 MB of references."""


@dataclass
class Batch:
    """Rows of one layout in order of arrival: `number`, `step`, `before` and `wall` [m], `values` [m, k]."""

    keys: tuple[str, ...]
    number: Floats
    step: Floats
    before: Floats
    """The step of the row before each, which a key that lags describes."""
    wall: Floats
    values: Floats

    @cached_property
    def rises(self) -> bool:
        """Whether every row came at a later step than the row before it, as those of one loop do: asked once for all
        keys."""
        return bool((self.step[1:] > self.step[:-1]).all() and (self.before[1:] > self.before[:-1]).all())


@dataclass
class Layout:
    """Rows that hold the same keys, waiting to be put into the tracks."""

    keys: tuple[str, ...]
    heads: list[tuple[float, float, float, float]] = field(default_factory=list[tuple[float, float, float, float]])
    rows: list[Sequence[float]] = field(default_factory=list[Sequence[float]])

    def take(self) -> Batch:
        """Return the rows and forget them."""
        heads = np.array(self.heads, dtype=np.float64).T
        values = np.array(self.rows, dtype=np.float64).reshape(len(self.rows), -1)
        self.heads, self.rows = [], []
        return Batch(self.keys, heads[0], heads[1], heads[2], heads[3], values)


class Waiting:
    """The rows that wait, numbered in order of arrival, and the layouts that are remembered."""

    def __init__(self) -> None:
        self.layouts: dict[tuple[str, ...], Layout] = {}
        self._laid_out = 0
        """Keys of all layouts together."""
        self._last = float("-inf")
        self._row_step = float("-inf")
        self.number = 0.0
        """Rows that arrived so far."""

    def add(self, keys: tuple[str, ...], values: Sequence[float], step: float, wall: float) -> None:
        """Take one row of a layout that is known; `values` [k] belong to `keys` [k]."""
        layout = self.layouts[keys]
        if step != self._row_step:
            self._last, self._row_step = self._row_step, step
        self.number += 1.0
        layout.heads.append((self.number, step, self._last if isfinite(self._last) else min(0.0, step), wall))
        layout.rows.append(values)

    def room_for(self, keys: tuple[str, ...]) -> bool:
        """Whether one more layout may be remembered."""
        return not full(len(self.layouts), self._laid_out + len(keys))

    def know(self, keys: tuple[str, ...]) -> None:
        """Remember a layout."""
        self._laid_out += len(keys)
        self.layouts[keys] = Layout(keys)

    def start_over(self) -> None:
        """Forget all layouts; what waits in them is to be taken first."""
        self.layouts.clear()
        self._laid_out = 0

    def take(self) -> list[Batch]:
        """Return what waits, a batch for each layout."""
        return [layout.take() for layout in self.layouts.values() if layout.rows]

    def after(self, step: float) -> None:
        """Say that a row at `step` came before this process began."""
        self._row_step = max(self._row_step, step)

    def back_to(self, step: float) -> None:
        """Say that what came after the row at `step` was undone."""
        self._last = self._row_step = min(self._row_step, step)


def full(layouts: int, keys: int) -> bool:
    """Whether so many layouts, or so many keys in all of them, are too many to remember: rows never look alike."""
    return layouts >= MAX_LAYOUTS or (layouts > 0 and keys > MAX_LAYOUT_KEYS)
