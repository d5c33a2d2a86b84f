"""Measures of a set of rewards: tails, atoms, shares of components, intervals. Each has a slow twin in the tests."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...stats import mad, rank_correlation

Array = NDArray[np.float64]
RESAMPLES = 400
"""Bootstrap resamples: the error of a 95 % bound is then about 1 % of coverage, and it takes milliseconds."""


def finite(values: Array) -> Array:
    """The finite ones of `values` [n]."""
    return values[np.isfinite(values)]


def top_share(values: Array, frac: float = 0.01) -> float:
    """Share of the summed distance from the median that the largest `frac` of `values` [n] carry, in [0, 1].

    0.03 for a Gaussian and about 0.08 for an exponential at 1 %. Symmetric in sign, unmoved by shift and scale.
    """
    gap = np.sort(np.abs(values - np.median(values)))
    total = float(gap.sum())
    count = max(1, math.ceil(frac * gap.size))
    return float(gap[-count:].sum()) / total if total > 0 else 0.0


def tail_weight(values: Array) -> float:
    """Crow-Siddiqui kurtosis of `values` [n]: (q97.5 - q2.5) / (q75 - q25); 2.91 for a Gaussian, NaN without spread.

    Source: Crow & Siddiqui (1967); Kim & White (2004), Finance Research Letters 1.
    """
    low, first, third, high = np.quantile(values, [0.025, 0.25, 0.75, 0.975])
    return float((high - low) / (third - first)) if third > first else float("nan")


def fraction_interval(hits: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a fraction (Wilson 1927); (0, 1) for n = 0."""
    if n == 0:
        return 0.0, 1.0
    z2 = 1.959964**2
    p = hits / n
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2) / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return max(0.0, min(p, centre - half)), min(1.0, max(p, centre + half))


def rank_interval(x: Array, y: Array, groups: int = 2000) -> tuple[float, float, float]:
    """Spearman's correlation of `x` and `y` [n] and its 95 % percentile bootstrap interval.

    More than `groups` pairs are thinned evenly first. Without spread on a side: (0, -1, 1).
    """
    if x.size > groups:
        rows = np.linspace(0, x.size - 1, groups).astype(int)
        x, y = x[rows], y[rows]
    if x.size < 4 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return 0.0, -1.0, 1.0
    random = np.random.default_rng(0)
    drawn = np.empty(RESAMPLES)
    for k in range(RESAMPLES):
        rows = random.integers(0, x.size, x.size)
        drawn[k] = rank_correlation(x[rows], y[rows])
    low, high = np.quantile(drawn, [0.025, 0.975])
    return rank_correlation(x, y), float(low), float(high)


def covariance_shares(parts: dict[str, Array], total: Array) -> dict[str, float]:
    """Share of the variance of `total` [n] by component: Cov(part, total) / Var(total). They sum to 1 if parts do.

    A share may be negative (the part works against the rest) or above 1. NaN when the total has no spread.
    """
    spread = float(np.var(total))
    centred = total - total.mean()
    if spread <= 0 or constant(total):
        return {name: float("nan") for name in parts}
    return {name: float((part - part.mean()) @ centred / total.size) / spread for name, part in parts.items()}


def constant(values: Array) -> bool:
    """Whether `values` [n] are all the same up to the last few bits."""
    return bool(values.size == 0 or np.ptp(values) <= 1e-12 * max(float(np.max(np.abs(values))), 1e-300))


@dataclass(frozen=True)
class Atom:
    """One exact value that many samples share: how many, and its distance to the nearest other value."""

    value: float
    count: int
    gap: float


def atom_at(values: Array, value: float) -> Atom:
    """The samples of `values` [n] that equal `value`."""
    same = values == value
    rest = values[~same]
    return Atom(value, int(same.sum()), float(np.abs(rest - value).min()) if rest.size else float("inf"))


def largest_atom(values: Array) -> Atom:
    """The most frequent exact value of `values` [n]."""
    found, counts = np.unique(values, return_counts=True)
    return atom_at(values, float(found[int(np.argmax(counts))]))


def continuous(values: Array) -> bool:
    """Whether `values` [n], apart from their most frequent ones, look like a continuous quantity.

    That is: at least 20 distinct values, and over half of the samples outside the three largest atoms are unique.
    """
    found, counts = np.unique(values, return_counts=True)
    if found.size < 20:
        return False
    rest = np.sort(counts)[:-3]
    return bool(rest.sum() > 0 and (rest == 1).sum() >= 0.5 * rest.sum())


def decades(values: Array, least_frac: float = 0.05) -> int:
    """Number of powers of ten that each hold at least `least_frac` of the non-zero magnitudes of `values` [n].

    3 for a Gaussian and for an exponential at 5 %. Decades are counted from the median, so scale does not matter.
    """
    size = np.abs(values[values != 0])
    if size.size < 20:
        return 0
    place = np.floor(np.log10(size) - np.log10(np.median(size)) + 0.5)
    _, counts = np.unique(place, return_counts=True)
    return int((counts >= least_frac * size.size).sum())


def between_share(rewards: Array, labels: NDArray[np.int64]) -> float:
    """Intraclass share: variance of the means of `labels` over the whole variance of `rewards` [n], in [0, 1].

    The one-way ANOVA estimate, cut at 0, so that chance differences between means do not count (Fisher 1925). NaN
    without spread.
    """
    n, count = rewards.size, int(labels.max()) + 1
    total = float(((rewards - rewards.mean()) ** 2).sum())
    if count < 2 or n <= count or constant(rewards):
        return float("nan")
    sizes = np.bincount(labels, minlength=count)
    means = np.bincount(labels, rewards, minlength=count) / np.maximum(sizes, 1)
    between = float((sizes * (means - rewards.mean()) ** 2).sum())
    within_ms = max(total - between, 0.0) / (n - count)
    size = (n - float((sizes**2).sum()) / n) / (count - 1)
    between_var = max((between / (count - 1) - within_ms) / size, 0.0)
    whole = between_var + within_ms
    return between_var / whole if whole > 0 else float("nan")


def two_humps(values: Array) -> tuple[float, float] | None:
    """Medians of the negative and positive part of `values` [n] when both are clear humps about equally far from 0.

    Each side holds at least 25 %, the mean is within a fifth of the humps' distance of 0, and either hump's spread is
    under a third of its distance from 0.
    """
    below, above = values[values < 0], values[values > 0]
    if min(below.size, above.size) < max(5, 0.25 * values.size):
        return None
    low, high = float(np.median(below)), float(np.median(above))
    near = abs(float(values.mean())) <= 0.2 * (high - low)
    tight = all(mad(side) <= abs(middle) / 3 for side, middle in ((below, low), (above, high)))
    return (low, high) if near and tight else None
