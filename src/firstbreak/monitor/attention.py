"""Cheap screens on every row: a value that is new in kind brings the look of the rules that concern it forward.

A screen raises no alarm. It only makes the monitor look now rather than at the next tick.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .drifts import Drifts
from .layouts import full

SETTLED = 12
"""Values of a key before one can be out of the ordinary; until then the ticks lie close. Engineering choice."""
REACH = 2.0
"""How many times the range seen so far a value must lie outside it: the range at least triples, so this is rare."""
GROSS = 8.0
"""The same where it is to be looked at whatever that costs: the range grows ninefold each time, so there are few."""
APART, LAG, EVERY = 8.0, 0.25, 4
"""How many times the usual distance from its running mean a value must lie from it, where it is the largest or least so
far: one outlier long ago must not make room for a break. The mean goes a quarter of the way at every fourth row. What
only drifts lags by as much as it always did, so that the ratio stays near 1. Engineering choices."""
SLOWLY = 8
"""Rows from one look at what drifts to the next: one costs a quarter of what logging a row does. Engineering
choice."""


@dataclass(frozen=True)
class Screened:
    """Which of the keys of a row are screened: they lie in `columns` of the row, their ranges in `places` [s].

    `span` is `places` as a slice where they lie side by side, as those of a run with one kind of rows do.
    """

    keys: tuple[str, ...]
    columns: slice | NDArray[np.intp]
    places: NDArray[np.intp]
    span: slice | NDArray[np.intp]


class Screens:
    """The range of every key so far, whichever keys it was logged with.

    Args:
        kept: Keys that are screened (`History.kept`), so that a crowd of others hides none of them.
    """

    def __init__(self, kept: Container[str]) -> None:
        self._kept = kept
        self._place: dict[str, int] = {}
        self._layouts: dict[tuple[str, ...], Screened] = {}
        self._laid_out = 0
        """Keys of all remembered rows together."""
        self.gross: tuple[str, ...] = ()
        """Of the keys that were out of the ordinary in the last row, those that lay farther outside than all else."""
        self.drifted: tuple[str, ...] = ()
        """The keys that have gone slowly away from where they long were, as of the last row."""
        self._drifts = Drifts()
        self._low = self._high = np.empty(0)
        self._rows = 0
        self._seen = np.empty(0, dtype=np.int64)
        self._bad = np.empty(0, dtype=bool)
        self._last = self._mean = self._away = np.empty(0)
        self._still = np.empty(0, dtype=np.int64)
        """Rows on end that had the same value."""

    def odd(self, keys: tuple[str, ...], row: Sequence[float]) -> list[str]:
        """Take one row, `row` [k] for `keys` [k]; return the keys that are out of the ordinary.

        Those that are not finite for the first time, those far outside their range so far, and those of another sign
        than ever before; those that are the farthest so far and far from where they have been of late; and those that
        stood still, as settings do, and change.
        """
        layout = self._layouts.get(keys) or self._new_layout(keys)
        at = layout.places
        values = np.asarray(row, dtype=np.float64)[layout.columns]
        finite = np.isfinite(values)
        low, high, settled = self._low[at], self._high[at], self._seen[at] >= SETTLED
        with np.errstate(all="ignore"):
            reach = REACH * (high - low)
            far = (values > high + reach) | (values < low - reach)
            turned = ((values < 0) & (low > 0)) | ((values > 0) & (high < 0))
            moved = values != self._last[at]
            strange = settled & finite & (far | turned | (moved & (self._still[at] >= SETTLED)))
            strange |= settled & finite & self._apart(at, values, (values > high) | (values < low))
        if not finite.all():
            strange |= ~finite & ~self._bad[at]
            self._bad[at] |= ~finite
            values = np.where(finite, values, np.nan)
        self._low[at], self._high[at] = np.fmin(low, values), np.fmax(high, values)
        self._rows += 1
        if self._rows % EVERY == 0:
            self._follow(at, values)
        self.drifted = ()
        if self._rows % SLOWLY == 0 and (drifted := self._drifts.take(layout.span, values)).any():
            self.drifted = tuple(layout.keys[place] for place in np.flatnonzero(drifted).tolist())
        self._seen[at] += finite
        self._still[at] = np.where(moved, 0, self._still[at] + 1)
        self._last[at] = values
        self.gross = ()
        if not strange.any():
            return []
        places: list[int] = np.flatnonzero(strange).tolist()
        with np.errstate(all="ignore"):
            reach = GROSS * (high - low)
            beyond: list[bool] = ((values > high + reach) | (values < low - reach))[places].tolist()
        self.gross = tuple(layout.keys[place] for place, far in zip(places, beyond, strict=True) if far)
        return [layout.keys[place] for place in places]

    def _apart(
        self, at: NDArray[np.intp], values: NDArray[np.float64], farthest: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return which of the farthest values so far [s] lie far from where their keys have been of late."""
        few = np.flatnonzero(farthest)
        if few.size:
            farthest[few] = np.abs(values[few] - self._mean[at[few]]) > APART * self._away[at[few]]
        return farthest

    def _follow(self, at: NDArray[np.intp], values: NDArray[np.float64]) -> None:
        """Let mean and usual distance follow; the first value is where they begin, and NaN leaves them alone."""
        mean, away = self._mean[at], self._away[at]
        change = values - mean
        told = np.isfinite(change)
        self._mean[at] = np.where(told, mean + LAG * change, np.where(np.isnan(mean), values, mean))
        self._away[at] = np.where(told, away + LAG * (np.abs(change) - away), away)

    def _new_layout(self, keys: tuple[str, ...]) -> Screened:
        if full(len(self._layouts), self._laid_out + len(keys)):
            self._layouts.clear()
            self._laid_out = 0
        self._laid_out += len(keys)
        columns = [column for column, key in enumerate(keys) if key in self._kept]
        chosen = tuple(keys[column] for column in columns)
        for key in chosen:
            self._place.setdefault(key, len(self._place))
        more = len(self._place) - self._low.size
        self._drifts.grow(more)
        self._low = np.append(self._low, np.full(more, np.inf))
        self._high = np.append(self._high, np.full(more, -np.inf))
        self._seen = np.append(self._seen, np.zeros(more, dtype=np.int64))
        self._bad = np.append(self._bad, np.zeros(more, dtype=bool))
        self._last = np.append(self._last, np.full(more, np.nan))
        self._mean = np.append(self._mean, np.full(more, np.nan))
        self._away = np.append(self._away, np.zeros(more))
        self._still = np.append(self._still, np.zeros(more, dtype=np.int64))
        places = np.array([self._place[key] for key in chosen], dtype=np.intp)
        layout = self._layouts[keys] = Screened(
            chosen,
            slice(None) if len(chosen) == len(keys) else np.array(columns, dtype=np.intp),
            places,
            slice(int(places[0]), int(places[-1]) + 1) if places.size and (np.diff(places) == 1).all() else places,
        )
        return layout
