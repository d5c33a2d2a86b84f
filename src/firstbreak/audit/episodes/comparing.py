"""Shares and ratios with intervals that respect prompts: episodes of one prompt are no independent witnesses."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Z95 = 1.959964
"""Two-sided 95 % quantile of the normal distribution."""


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval; (-inf, inf) where there is too little to tell."""

    value: float
    low: float
    high: float


NOTHING = Estimate(float("nan"), float("-inf"), float("inf"))


def share(part: ArrayLike, whole: ArrayLike, cluster: ArrayLike) -> tuple[float, float]:
    """Return sum(part) / sum(whole) and its standard error, for rows [n] that come in clusters [n].

    Linearised ratio with one residual a cluster (Cochran 1977, Sampling Techniques, section 6.3).
    """
    parts, wholes = _sums(part, whole, cluster)
    total, n = float(wholes.sum()), wholes.size
    if total <= 0 or n < 2:
        return (float(parts.sum()) / total if total > 0 else float("nan")), float("inf")
    ratio = float(parts.sum()) / total
    residual = (parts - ratio * wholes) / total
    return ratio, math.sqrt(n / (n - 1) * float(residual @ residual))


def growth(
    part: ArrayLike, whole: ArrayLike, cluster: ArrayLike, early: NDArray[np.bool_], late: NDArray[np.bool_]
) -> Estimate:
    """Return how many times larger sum(part) / sum(whole) is in the rows `late` than in the rows `early`.

    The interval is that of the logarithm, by the delta method; both ratios must be positive.
    """
    x, y, c = (np.asarray(v) for v in (part, whole, cluster))
    first, first_error = share(x[early], y[early], c[early])
    last, last_error = share(x[late], y[late], c[late])
    if not (first > 0 and last > 0 and math.isfinite(first_error + last_error)):
        return NOTHING
    middle = math.log(last / first)
    half = Z95 * math.hypot(first_error / first, last_error / last)
    return Estimate(math.exp(middle), math.exp(middle - half), math.exp(middle + half))


def difference(part: ArrayLike, cluster: ArrayLike, first: NDArray[np.bool_], second: NDArray[np.bool_]) -> Estimate:
    """Return the mean of `part` over the rows `second` minus that over the rows `first`."""
    x, c = np.asarray(part, dtype=float), np.asarray(cluster)
    ones = np.ones(x.size)
    a, a_error = share(x[first], ones[first], c[first])
    b, b_error = share(x[second], ones[second], c[second])
    if not math.isfinite(a_error + b_error):
        return NOTHING
    half = Z95 * math.hypot(a_error, b_error)
    return Estimate(b - a, b - a - half, b - a + half)


def _sums(part: ArrayLike, whole: ArrayLike, cluster: ArrayLike) -> tuple[Floats, Floats]:
    labels, place = np.unique(np.asarray(cluster), return_inverse=True)
    x, y = np.asarray(part, dtype=float), np.asarray(whole, dtype=float)
    if labels.size < 2:
        return x, y
    return np.bincount(place, x, labels.size).astype(float), np.bincount(place, y, labels.size).astype(float)


def within(values: ArrayLike, cluster: ArrayLike) -> Floats:
    """Return `values` [n] minus the mean of their cluster."""
    labels, place = np.unique(np.asarray(cluster), return_inverse=True)
    x = np.asarray(values, dtype=float)
    means = np.bincount(place, x, labels.size) / np.bincount(place, minlength=labels.size)
    return x - means[place]


def slopes(causes: Floats, effect: Floats) -> tuple[Floats, Floats]:
    """Return the least-squares slopes of `effect` [n] on `causes` [n, k] (with an intercept) and their standard errors.

    The errors hold for unequal noise too (White 1980, HC1). Causes without spread of their own get an infinite error.
    """
    n, k = causes.shape
    design = np.column_stack([np.ones(n), causes])
    scale: Floats = np.maximum(np.abs(design).max(axis=0), 1e-300)
    scaled: Floats = design / scale
    if n <= k + 1 or np.linalg.matrix_rank(scaled, tol=1e-6 * math.sqrt(n)) <= k:
        return np.array([math.nan] * k), np.array([math.inf] * k)
    inverse = np.asarray(np.linalg.inv(scaled.T @ scaled), dtype=np.float64)
    fit: Floats = inverse @ (scaled.T @ effect)
    residual: Floats = effect - scaled @ fit
    meat: Floats = (scaled * residual[:, None] ** 2).T @ scaled
    spread: Floats = np.sqrt(np.diag(inverse @ meat @ inverse) * n / (n - k - 1))
    return (fit / scale)[1:], (spread / scale)[1:]
