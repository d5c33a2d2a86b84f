"""Means and spreads of small tables: what numpy gives to the last bit, without what its wrappers cost.

For a table of 64 rows `mean`, `std`, `median` and `quantile` of numpy take ten times as long as the sums in them.
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def mean(table: Floats) -> Floats:
    """Return the mean of each column [D] of a table [m, D]."""
    return cast(Floats, np.add.reduce(table)) / len(table)


def spread(table: Floats) -> Floats:
    """Return the standard deviation of each column [D] of a table [m, D]."""
    off = table - mean(table)
    return np.sqrt(mean(off * off))


def finite(*tables: Floats) -> bool:
    """Whether all numbers in all tables are finite."""
    return all(bool(np.logical_and.reduce(np.isfinite(table), axis=None)) for table in tables)


def middle(values: Floats) -> float:
    """Return the median of numbers [n] that are finite and in order."""
    place = len(values) // 2
    return float(values[place] if len(values) % 2 else (values[place - 1] + values[place]) / 2)


def quantile(values: Floats, share: float) -> float:
    """Return the `share` quantile of numbers [n], between neighbours by a straight line; NaN where one is NaN."""
    ordered = np.sort(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    rest = place - low
    first, last, most = float(ordered[low]), float(ordered[min(low + 1, len(ordered) - 1)]), float(ordered[-1])
    if math.isnan(most):
        return most
    step = last - first
    return first + step * rest if rest < 0.5 else last - step * (1 - rest)
