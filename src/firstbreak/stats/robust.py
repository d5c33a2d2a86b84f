"""Location, spread and transforms that a few wild points cannot move."""

from __future__ import annotations

import numpy as np

from ..series import Floats

MAD_TO_SD = 1.4826
"""Turns a median absolute deviation into a standard deviation for Gaussian data."""
SORTED = 256
"""Values up to which sorting all of them is faster than putting only the middle ones in their place (measured)."""


def median(values: Floats) -> float:
    """Median of `values` [n]; NaN when empty or where one is NaN. As `numpy.median`, without its detours."""
    n = int(values.size)
    if n == 0:
        return float("nan")
    half = n // 2
    ordered = values.flatten()
    if n <= SORTED:
        ordered.sort()
    else:
        ordered.partition((half - 1, half, n - 1))
    if np.isnan(ordered[-1]):  # NaN sorts last
        return float("nan")
    middle = ordered.item(half) if n % 2 else (ordered.item(half - 1) + ordered.item(half)) / 2
    return middle + 0.0  # never a negative zero


def quantile(values: Floats, share: float) -> float:
    """Quantile of `values` [n] at `share` in [0, 1], linear between neighbours; NaN when empty or where one is NaN.

    As `numpy.quantile`, without its detours.
    """
    if values.size == 0:
        return float("nan")
    ordered = np.sort(values)
    if np.isnan(ordered[-1]):  # NaN sorts last
        return float("nan")
    place = share * (ordered.size - 1)
    below = int(place)
    low, high = ordered.item(below), ordered.item(min(below + 1, ordered.size - 1))
    part = place - below
    return low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part)


def mad(values: Floats) -> float:
    """Median absolute deviation of `values` [n], scaled to estimate a Gaussian's standard deviation; NaN when empty."""
    if values.size == 0:
        return float("nan")
    return MAD_TO_SD * median(np.abs(values - median(values)))


def robust_z(values: Floats, reference: Floats, floor: float = 0.0) -> Floats:
    """(values - median(reference)) / MAD(reference) [n]; `floor` is the least spread, so constants do not explode."""
    spread = max(mad(reference), floor, 1e-300)
    return (values - median(reference)) / spread


def safe_log(values: Floats) -> Floats:
    """Logarithm of |values| [n], with zeros put at a tenth of the smallest non-zero magnitude (or at 1e-12)."""
    size = np.abs(values)
    positive = size[size > 0]
    least = float(positive.min()) / 10 if positive.size else 1e-12
    return np.log(np.maximum(size, max(least, 1e-300)))


def logit(fractions: Floats, n: float = 1000.0) -> Floats:
    """Log-odds of `fractions` [n] kept 1/(2n) away from 0 and 1, where `n` is the sample count behind a fraction."""
    edge = 0.5 / n
    kept = np.clip(fractions, edge, 1 - edge)
    return np.log(kept / (1 - kept))


def lag1(values: Floats) -> float:
    """Lag-1 autocorrelation of `values` [n] around their mean, in [-1, 1]; 0 for fewer than 4 points or no spread."""
    if values.size < 4 or values.max() - values.min() <= 0:
        return 0.0
    centred = values - values.mean()
    power = float(np.dot(centred, centred))
    if power <= 0:
        return 0.0
    return min(max(float(np.dot(centred[:-1], centred[1:])) / power, -1.0), 1.0)


def inflation(rho: float) -> float:
    """Factor (1 + rho) / (1 - rho) by which autocorrelation inflates the variance of a mean; rho kept in [0, 0.95].

    Source: Bartlett (1946), variance of the mean of an AR(1) process.
    """
    kept = min(max(rho, 0.0), 0.95)
    return (1 + kept) / (1 - kept)


def inflation_from(residual: Floats, fitted: int = 1) -> float:
    """Inflation factor estimated from the residuals [n] of a fit with `fitted` coefficients.

    Short series make lag-1 look too small, by about (fitted + (2 + fitted) rho) / n; that bias is taken out first.
    Source: Marriott & Pope (1954) and Kendall (1954), bias in the estimation of autocorrelations.
    """
    n = int(residual.size)
    if n < 4 + fitted:
        return inflation(lag1(residual))
    if residual.max() - residual.min() <= 0:
        return 1.0
    return inflation((n * lag1(residual) + fitted) / (n - 2 - fitted))
