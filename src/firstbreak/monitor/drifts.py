"""A sum of small departures for every key: what goes slowly away from where it long was, though no value of it is odd.

The two-sided cumulative sum of Page 1954 ("Continuous Inspection Schemes"), of how far a value lies from a slow running
mean of its key, in times of the usual distance from it. Like every screen it raises no alarm: it brings a look forward.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
SLOWEST = 1 / 32
"""Share of the way that mean and usual distance go at every value taken; more at first, when they are means of all
values. Slow beside what is to be seen, which would carry the mean along. Engineering default."""
AT_FIRST = 12
"""Values of a key before its sum is kept. Engineering default, as of `firstbreak.monitor.attention`."""
ALLOWED, CLIPPED = 1.0, 6.0
"""Usual distances that count for nothing, and that a value counts for at most: one value alone is none of this screen's
business. Engineering default."""
ENOUGH = 8.0
"""Sum at which a key is told of: two wild values on end, or many that lie a little to one side. Independent normal
values come to it once in some 20,000 (Siegmund 1985, "Sequential Analysis"), as the usual distance is 0.8 deviations.
"""
MORE = 1.6
"""Times the sum at which it was told of that it must reach to be told of again: what goes on drifting, as what is
learned does, takes few looks. Engineering default."""
MEAN, AWAY, UP, DOWN, DUE, SEEN = range(6)


class Drifts:
    """Mean, usual distance and the two sums of every place."""

    def __init__(self) -> None:
        self._state = np.empty((6, 0))

    def grow(self, more: int) -> None:
        """Make room for `more` places."""
        fresh = np.zeros((6, more))
        fresh[DUE] = ENOUGH
        self._state = np.concatenate((self._state, fresh), axis=1)

    def take(self, at: slice | NDArray[np.intp], values: Floats) -> NDArray[np.bool_]:
        """Take `values` [s] of the places `at` [s]; return which of them [s] have drifted since they were told of.

        What is no number leaves all as it is.
        """
        state = self._state[:, at]
        mean, away, up, down, due, seen = state
        ready = seen >= AT_FIRST
        with np.errstate(all="ignore"):
            change = values - mean
            size = np.abs(change)
            far = np.maximum(np.minimum(change / away, CLIPPED), -CLIPPED)
            up = np.fmax(up + far - ALLOWED, 0.0) * ready
            down = np.fmax(down - far - ALLOWED, 0.0) * ready
            share = np.maximum(1 / (seen + 1), SLOWEST)
            reached = np.maximum(up, down)
            drifted = reached >= due
            after = np.empty_like(state)
            after[MEAN] = mean + share * change
            after[AWAY] = away + share * (size - away) * (seen > 0)
            after[UP], after[DOWN], after[SEEN] = up, down, seen + 1
            after[DUE] = np.where(reached > 0, due, ENOUGH)
        if drifted.any():
            after[DUE, drifted] = MORE * reached[drifted]
        told = np.isfinite(values)
        if not told.all():
            after = np.where(told, after, state)
            drifted &= told
        self._state[:, at] = after
        return drifted
