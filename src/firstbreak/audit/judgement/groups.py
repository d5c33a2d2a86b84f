"""Statistics within prompt groups, without a loop over groups. All skip what is not finite."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Index = NDArray[np.int64]


def dense(group: NDArray[np.uint64]) -> Index:
    """Return for each fingerprint [N] the number of its group, from 0 [N]."""
    return np.unique(group, return_inverse=True)[1].astype(np.int64)


def mean_within(values: Floats, index: Index) -> Floats:
    """Return the mean of each group [G], NaN where a group has no finite value."""
    good = np.isfinite(values)
    size = int(index.max()) + 1 if index.size else 0
    count = np.bincount(index[good], minlength=size)
    total = np.bincount(index[good], weights=values[good], minlength=size)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def median_within(values: Floats, index: Index) -> Floats:
    """Return the median of each group [G], NaN where a group has no finite value."""
    size = int(index.max()) + 1 if index.size else 0
    good = np.flatnonzero(np.isfinite(values))
    order = good[np.lexsort((values[good], index[good]))]
    count = np.bincount(index[good], minlength=size)
    start = np.concatenate(([0], np.cumsum(count)[:-1]))
    medians = np.full(size, np.nan)
    some = count > 0
    low, high = start[some] + (count[some] - 1) // 2, start[some] + count[some] // 2
    medians[some] = 0.5 * (values[order[low]] + values[order[high]])
    return medians


def ranks_within(values: Floats, index: Index) -> Floats:
    """Return the rank of each value in its group, from 0, ties sharing the mean rank [N]; NaN where not finite."""
    ranks = np.full(values.size, np.nan)
    good = np.flatnonzero(np.isfinite(values))
    if not good.size:
        return ranks
    order = good[np.lexsort((values[good], index[good]))]
    new_group = np.concatenate(([True], np.diff(index[order]) != 0))
    new_value = new_group | np.concatenate(([True], np.diff(values[order]) != 0))
    places = np.arange(order.size)
    run = np.cumsum(new_value) - 1
    first = places[new_value]
    last = np.concatenate((first[1:], [order.size])) - 1
    begin = places[new_group][np.cumsum(new_group) - 1]
    ranks[order] = 0.5 * (first[run] + last[run]) - begin
    return ranks


def correlations_within(x: Floats, y: Floats, index: Index, least: int = 3) -> Floats:
    """Return Spearman's correlation in each group that has at least `least` pairs and spread on both sides [<= G]."""
    both = np.isfinite(x) & np.isfinite(y)
    if not both.any():
        return np.zeros(0)
    where = np.unique(index[both], return_inverse=True)[1].astype(np.int64)
    ranks = [ranks_within(side[both], where) for side in (x, y)]
    a, b = (side - mean_within(side, where)[where] for side in ranks)
    count = np.bincount(where)
    saa, sbb, sab = (np.bincount(where, weights=w) for w in (a * a, b * b, a * b))
    usable = (count >= least) & (saa > 0) & (sbb > 0)
    return sab[usable] / np.sqrt(saa[usable] * sbb[usable])


def gains_within(values: Floats, mask: NDArray[np.bool_], index: Index) -> Floats:
    """Return mean(values of `mask`) - mean(the others) of each group that has both [<= G]."""
    inside = mean_within(np.where(mask, values, np.nan), index)
    outside = mean_within(np.where(mask, np.nan, values), index)
    both = np.isfinite(inside) & np.isfinite(outside)
    return inside[both] - outside[both]
