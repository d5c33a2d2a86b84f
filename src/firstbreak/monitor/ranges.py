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
only drifts lags by as much as it always did, so that the ratio stays near 1. Engineering choices. The same of a step
from the last value beside the usual step, and beside the largest rise, or fall, so far: what only grows, as a buffer
does, may fall to where it was at the start, and no level tells of it.
"""
BESIDE = 2.0
"""How many times the usual distance from its mean a value must lie from it that is such a step away from the last: the
way back from an outlier is no news. Engineering choice."""
LARGEST = float(np.finfo(np.float64).max)
HIGH, LOW, LAST, MEAN, AWAY, SEEN, STILL, BAD, RISE, FALL, PACE, ZERO = range(12)
"""What is held of a place: the largest value so far and the least with its sign changed, so that both are one array;
the last; running mean and usual distance from it; values so far, and rows on end that had the same; whether one was no
number; the largest step up and the largest down, and the usual size of one; up to which size a value counts as 0,
where it is 0 by construction."""
NOTHING = (-np.inf, -np.inf, np.nan, np.nan, 0.0, 0.0, 0.0, 0.0, -np.inf, -np.inf, np.nan)
SIGNS = np.array([[1.0], [-1.0]])


class Ranges:
    """What was seen at every place."""

    def __init__(self) -> None:
        self._state = np.empty((ZERO + 1, 0))
        self._by_construction = False
        """Whether any place is 0 by construction."""

    def grow(self, zeros: Sequence[float]) -> None:
        """Make room for a place for each of `zeros`: the size up to which a value of it counts as 0, NaN where not."""
        fresh = np.array([(*NOTHING, zero) for zero in zeros]).T
        self._state = np.concatenate((self._state, fresh), axis=1)
        self._by_construction = not np.isnan(self._state[ZERO]).all()

    def strange(self, at: Places, values: Floats) -> tuple[Mask, Mask]:
        """Return which of `values` [s] at the places `at` [s] are out of the ordinary, and which lie far outside.

        Out of the ordinary are those that are not finite for the first time, those far outside the range so far, and
        those of another sign than ever before; those that are the farthest so far and far from where they have been of
        late; those a step away from the last that is far beyond all so far; and those that stood still, as settings do,
        and change. What is 0 by construction is so wherever it is something after nothing, the first value included.
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
            aside = np.abs(values - state[MEAN])
            apart &= aside > APART * state[AWAY]
            step = values - state[LAST]
            up, down = np.maximum(APART * np.fmax(state[[RISE, FALL]], state[PACE]), 0.0)
            leapt = ((step > up) | (-step > down)) & (aside > BESIDE * state[AWAY])
            gross = (values > high + GROSS * width) | (values < low - GROSS * width)
            risen = (np.abs(values) > state[ZERO]) & ~(np.abs(state[LAST]) > state[ZERO])
        strange = finite & ((seen >= SETTLED) & (far | turned | roused | apart | leapt) | risen)
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
        if self._by_construction:
            edge = np.fmin(edge, self._rest(state))
        edge[1] *= -1.0
        return edge

    def _rest(self, state: Floats) -> Floats:
        """Return how far [2, s] what is 0 by construction may go up, and down, and stay 0, or stay other than 0."""
        zero, last = state[ZERO], SIGNS * state[LAST]
        return np.where(last < -zero, -np.nextafter(zero, np.inf), np.where(last > zero, np.nan, zero))

    def strides(self, at: Places, ahead: int) -> Floats:
        """Return the largest step up and the largest down [2, s] of which `strange` says nothing; holds as `band`."""
        state = self._state[:, at]
        with np.errstate(over="ignore"):
            ordinary = np.maximum(APART * np.fmax(state[[RISE, FALL]], (1 - LAG) * state[PACE]), 0.0)
        return np.where(state[SEEN] >= SETTLED - ahead, np.minimum(ordinary, LARGEST), LARGEST)

    def take(self, at: Places, rows: Floats, follow: Sequence[int]) -> None:
        """Count in `rows` [m, s] of the places `at` [s]; the means follow to those of the rows that `follow` names."""
        state = self._state[:, at]
        moved = rows != self._before(state, rows)
        finite = np.isfinite(rows)
        if not finite.all():
            state[BAD] = np.maximum(state[BAD], ~finite.all(axis=0))
            rows = np.where(finite, rows, np.nan)
        state[HIGH] = np.fmax(state[HIGH], np.fmax.reduce(rows))
        state[LOW] = np.fmax(state[LOW], -np.fmin.reduce(rows))
        with np.errstate(over="ignore"):
            steps = rows - self._before(state, rows)
        state[RISE] = np.fmax(state[RISE], np.fmax.reduce(steps))
        state[FALL] = np.fmax(state[FALL], -np.fmin.reduce(steps))
        state[SEEN] += finite.sum(axis=0)
        state[STILL] = np.where(moved.any(axis=0), moved[::-1].argmax(axis=0), state[STILL] + len(rows))
        state[LAST] = rows[-1]
        for row in follow:
            self._follow(state, rows[row], np.abs(steps[row]))
        if not isinstance(at, slice):
            self._state[:, at] = state

    def _before(self, state: Floats, rows: Floats) -> Floats:
        """Return the row before each of `rows` [m, s]."""
        return np.concatenate((state[LAST][None], rows[:-1]))

    def _follow(self, state: Floats, values: Floats, sizes: Floats) -> None:
        """Let mean, usual distance and usual step follow; the first is where they begin, and NaN leaves them alone."""
        mean, away = state[MEAN], state[AWAY]
        change = values - mean
        told = np.isfinite(change)
        state[AWAY] = np.where(told, away + LAG * (np.abs(change) - away), away)
        state[MEAN] = np.where(told, mean + LAG * change, np.where(np.isnan(mean), values, mean))
        pace = np.where(np.isnan(state[PACE]), sizes, state[PACE])
        state[PACE] = np.where(np.isfinite(sizes), pace + LAG * (sizes - pace), state[PACE])
