"""What every key was so far, and the band in which its next values are nothing out of the ordinary.

A row within the band costs two comparisons a value; rows are counted in together, as an array costs the same for one
as for eight.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Places = slice | NDArray[np.intp]

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
LARGEST = float(np.finfo(np.float64).max)
HIGH, LOW, LAST, MEAN, AWAY, SEEN, STILL, BAD = range(8)
"""What is held of a place: the largest value so far and the least with its sign changed, so that both are one array;
the last; running mean and usual distance from it; values so far, and rows on end that had the same; whether one was no
number."""
NOTHING = (-np.inf, -np.inf, np.nan, np.nan, 0.0, 0.0, 0.0, 0.0)
SIGNS = np.array([[1.0], [-1.0]])


class Ranges:
    """What was seen at every place."""

    def __init__(self) -> None:
        self._state = np.empty((len(NOTHING), 0))

    def grow(self, more: int) -> None:
        """Make room for `more` places."""
        fresh = np.repeat(np.array(NOTHING)[:, None], more, axis=1)
        self._state = np.concatenate((self._state, fresh), axis=1)

    def strange(self, at: Places, values: Floats) -> tuple[Mask, Mask]:
        """Return which of `values` [s] at the places `at` [s] are out of the ordinary, and which lie far outside.

        Out of the ordinary are those that are not finite for the first time, those far outside the range so far, and
        those of another sign than ever before; those that are the farthest so far and far from where they have been of
        late; and those that stood still, as settings do, and change.
        """
        state = self._state[:, at]
        high, low, seen = state[HIGH], -state[LOW], state[SEEN]
        finite = np.isfinite(values)
        with np.errstate(all="ignore"):
            width = high - low
            far = (values > high + REACH * width) | (values < low - REACH * width)
            turned = ((values < 0) & (low > 0)) | ((values > 0) & (high < 0))
            roused = (values != state[LAST]) & (state[STILL] >= SETTLED)
            apart = (values > high) | (values < low)
            apart &= np.abs(values - state[MEAN]) > APART * state[AWAY]
            gross = (values > high + GROSS * width) | (values < low - GROSS * width)
        strange = (seen >= SETTLED) & finite & (far | turned | roused | apart)
        return strange | (~finite & (state[BAD] == 0)), strange & gross

    def band(self, at: Places, ahead: int) -> Floats:
        """Return the largest and the least value [2, s] of which `strange` says nothing, of those at `at` [s].

        It holds for the next row and `ahead` more within it, which need not be counted in and to which the means follow
        once at most: then as far as `APART` times what is left of the usual distance. Where a value beyond it comes,
        `strange` is asked, which may still say nothing of it.
        """
        state = self._state[:, at]
        ends, mean = state[[HIGH, LOW]], SIGNS * state[MEAN]
        with np.errstate(all="ignore"):
            far = ends + REACH * (ends[0] + ends[1])
            edge = np.fmin(far, np.maximum(ends, mean + APART * (1 - LAG) * state[AWAY]))
            edge = np.where(ends < 0, np.minimum(edge, 0.0), edge)  # another sign than ever before
            edge = np.where(state[STILL] >= SETTLED - ahead, SIGNS * state[LAST], edge)
            edge = np.where(state[SEEN] >= SETTLED - ahead, np.minimum(edge, LARGEST), LARGEST)
        edge[1] *= -1.0
        return edge

    def take(self, at: Places, rows: Floats, follow: Sequence[int]) -> None:
        """Count in `rows` [m, s] of the places `at` [s]; the means follow to those of the rows that `follow` names."""
        state = self._state[:, at]
        moved = rows != np.concatenate((state[LAST][None], rows[:-1]))
        finite = np.isfinite(rows)
        if not finite.all():
            state[BAD] = np.maximum(state[BAD], ~finite.all(axis=0))
            rows = np.where(finite, rows, np.nan)
        state[HIGH] = np.fmax(state[HIGH], np.fmax.reduce(rows))
        state[LOW] = np.fmax(state[LOW], -np.fmin.reduce(rows))
        state[SEEN] += finite.sum(axis=0)
        state[STILL] = np.where(moved.any(axis=0), moved[::-1].argmax(axis=0), state[STILL] + len(rows))
        state[LAST] = rows[-1]
        for row in follow:
            self._follow(state, rows[row])
        if not isinstance(at, slice):
            self._state[:, at] = state

    def _follow(self, state: Floats, values: Floats) -> None:
        """Let mean and usual distance follow; the first value is where they begin, and NaN leaves them alone."""
        mean, away = state[MEAN], state[AWAY]
        change = values - mean
        told = np.isfinite(change)
        state[AWAY] = np.where(told, away + LAG * (np.abs(change) - away), away)
        state[MEAN] = np.where(told, mean + LAG * change, np.where(np.isnan(mean), values, mean))
