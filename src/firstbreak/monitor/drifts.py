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

    def take(self, at: NDArray[np.intp], values: Floats) -> NDArray[np.bool_]:
        """Take `values` [s] of the places `at` [s]; return which of them [s] have drifted since they were told of.

        What is no number leaves all as it is.
        """
        state = self._state[:, at]
        mean, away, up, down, due, seen = state
        with np.errstate(all="ignore"):
            change = values - mean
            size = np.abs(change)
            far = np.maximum(np.minimum(change / away, CLIPPED), -CLIPPED)
            up = np.fmax(up + far - ALLOWED, 0.0)
            down = np.fmax(down - far - ALLOWED, 0.0)
            share = np.maximum(1 / (seen + 1), SLOWEST)
            reached = np.maximum(up, down) * (seen >= AT_FIRST)
        drifted = reached >= due
        after = np.array(
            (
                mean + share * change,
                away + np.where(seen > 0, share * (size - away), 0.0),
                up * (seen >= AT_FIRST),
                down * (seen >= AT_FIRST),
                np.where(drifted, MORE * reached, np.where(reached > 0, due, ENOUGH)),
                seen + 1,
            )
        )
        self._state[:, at] = np.where(np.isfinite(values), after, state)
        return drifted & np.isfinite(values)
