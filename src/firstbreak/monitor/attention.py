"""Cheap screens on every row: a value that is new in kind brings the look of the rules that concern it forward.

A screen raises no alarm. It only makes the monitor look now rather than at the next tick.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from operator import ge, itemgetter, le, neg, sub

import numpy as np

from .drifts import Drifts
from .layouts import full
from .ranges import EVERY, Mask, Places, Ranges

SLOWLY = 8
"""Rows from one look at what drifts to the next, and that are counted in together at most. Engineering choice."""


@dataclass(frozen=True)
class Screened:
    """Which of the keys of a row are screened.

    Their ranges lie in `places` [s], a slice where they lie side by side, as those of a run with one kind of rows do.
    """

    keys: tuple[str, ...]
    pick: Callable[[Sequence[float]], Sequence[float]]
    """Takes a row; returns the values [s] of these keys."""
    places: Places

    def told(self, which: Mask) -> tuple[str, ...]:
        """Return the keys at `which` [s]."""
        return tuple(self.keys[place] for place in np.flatnonzero(which).tolist()) if which.any() else ()


class Screens:
    """The range of every key so far, whichever keys it was logged with.

    Args:
        kept: Keys that are screened (`History.kept`), so that a crowd of others hides none of them.
        zero: From a key to the size up to which its values count as 0, where they are 0 by construction, else NaN.
    """

    def __init__(self, kept: Container[str], zero: Callable[[str], float] = lambda _: math.nan) -> None:
        self._kept, self._zero = kept, zero
        self._place: dict[str, int] = {}
        self._layouts: dict[tuple[str, ...], Screened] = {}
        self._laid_out = 0
        """Keys of all remembered rows together."""
        self.gross: tuple[str, ...] = ()
        """Of the keys that were out of the ordinary in the last row, those that lay farther outside than all else."""
        self.drifted: tuple[str, ...] = ()
        """The keys that have gone slowly away from where they long were, as of the last row."""
        self._drifts = Drifts()
        self._ranges = Ranges()
        self._rows = 0
        self._latest: Screened | None = None
        """The layout of the last row."""
        self._band: tuple[list[float], list[float]] | None = None
        """The largest and the least ordinary values [s] of its keys; None where rows were counted in since."""
        self._strides: tuple[list[float], list[float]] = [], []
        """The largest ordinary step up, and down with its sign changed [s], where the band is known."""
        self._before: Sequence[float] = ()
        """The last row's values [s]."""
        self._waiting: list[Sequence[float]] = []
        """Its rows that are not counted in yet: fewer than `SLOWLY`, all of them ordinary."""

    def odd(self, keys: tuple[str, ...], row: Sequence[float]) -> list[str]:
        """Take one row, `row` [k] for `keys` [k]; return the keys that are out of the ordinary (`Ranges.strange`)."""
        layout = self._layouts.get(keys) or self._new_layout(keys)
        values = layout.pick(row)
        self.gross = self.drifted = ()
        if layout is self._latest and self._within(layout, values):
            self._rows += 1
            self._waiting.append(values)
            self._before = values
            if self._rows % SLOWLY == 0:
                self._count_in()
            return []
        self._count_in()
        self._latest, self._before = layout, values
        self._rows += 1
        self._waiting.append(values)
        odd, gross = self._ranges.strange(layout.places, np.asarray(values, dtype=np.float64))
        self._count_in()
        self.gross = layout.told(gross)
        return list(layout.told(odd))

    def _within(self, layout: Screened, values: Sequence[float]) -> bool:
        """Whether all of `values` [s] lie within the band, and no step to one is out of the ordinary."""
        if self._band is None:
            high, low = self._ranges.band(layout.places, SLOWLY - 1).tolist()
            up, down = self._ranges.strides(layout.places, SLOWLY - 1).tolist()
            self._band, self._strides = (high, low), (up, list(map(neg, down)))
        if not (all(map(le, values, self._band[0])) and all(map(ge, values, self._band[1]))):
            return False
        steps = list(map(sub, values, self._before))
        return all(map(le, steps, self._strides[0])) and all(map(ge, steps, self._strides[1]))

    def _count_in(self) -> None:
        """Count in the rows that wait, the last of which is the newest."""
        if self._latest is None or not self._waiting:
            return
        places, rows = self._latest.places, np.array(self._waiting, dtype=np.float64)
        first = self._rows - len(rows) + 1
        self._ranges.take(places, rows, [row for row in range(len(rows)) if (first + row) % EVERY == 0])
        if self._rows % SLOWLY == 0:
            self.drifted = self._latest.told(self._drifts.take(places, rows[-1]))
        self._waiting.clear()
        self._band = None

    def _new_layout(self, keys: tuple[str, ...]) -> Screened:
        if full(len(self._layouts), self._laid_out + len(keys)):
            self._layouts.clear()
            self._laid_out = 0
        self._laid_out += len(keys)
        columns = [column for column, key in enumerate(keys) if key in self._kept]
        chosen = tuple(keys[column] for column in columns)
        fresh = [key for key in dict.fromkeys(chosen) if key not in self._place]
        self._place.update(zip(fresh, range(len(self._place), len(self._place) + len(fresh)), strict=True))
        if fresh:
            self._drifts.grow(len(fresh))
            self._ranges.grow([self._zero(key) for key in fresh])
        places = np.array([self._place[key] for key in chosen], dtype=np.intp)
        side_by_side = places.size > 0 and bool((np.diff(places) == 1).all())
        layout = self._layouts[keys] = Screened(
            chosen,
            tuple if len(chosen) == len(keys) else _picker(columns),
            slice(int(places[0]), int(places[-1]) + 1) if side_by_side else places,
        )
        return layout


def _picker(columns: Sequence[int]) -> Callable[[Sequence[float]], Sequence[float]]:
    """Return what takes a row and returns its values in `columns`."""
    if len(columns) > 1:
        return itemgetter(*columns)
    return lambda row: tuple(row[column] for column in columns)
