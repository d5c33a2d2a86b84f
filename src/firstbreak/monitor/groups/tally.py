"""Sums over a stream of groups, and the difference of two such sums with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

LEAST = 8
"""Groups on each side below which no interval is given. Engineering default."""


@dataclass
class Moments:
    """Count, mean and spread of a stream (Welford 1962); what is not finite is passed over."""

    n: int = 0
    mean: float = 0.0
    squares: float = 0.0
    """Sum of squared distances from the mean."""

    def add(self, value: float) -> None:
        """Take one value."""
        if not math.isfinite(value):
            return
        self.n += 1
        step = value - self.mean
        self.mean += step / self.n
        self.squares += step * (value - self.mean)

    @property
    def variance(self) -> float:
        """Of the sample (n - 1); NaN for fewer than 2 values."""
        return self.squares / (self.n - 1) if self.n > 1 else math.nan

    @property
    def known(self) -> float:
        """The mean, or NaN for nothing."""
        return self.mean if self.n else math.nan


def t95(freedom: float) -> float:
    """Two-sided 95 % quantile of Student's t, from 7 degrees of freedom on right to 1e-4 (Abramowitz and
    Stegun 1964, 26.7.5).
    """
    z, f = 1.959964, freedom
    g1 = (z**3 + z) / 4
    g2 = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    g3 = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    g4 = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    return z + g1 / f + g2 / f**2 + g3 / f**3 + g4 / f**4


def difference(one: Moments, other: Moments) -> tuple[float, float, float]:
    """Mean of `one` less mean of `other` with its 95 % interval (Welch 1947); NaN where a side is too small."""
    gap = one.known - other.known
    if min(one.n, other.n) < LEAST:
        return gap, math.nan, math.nan
    a, b = one.variance / one.n, other.variance / other.n
    if a + b == 0.0:
        return gap, gap, gap
    share = a / (a + b)  # not the sums of squares of the usual form: they underflow
    freedom = 1.0 / (share**2 / (one.n - 1) + (1.0 - share) ** 2 / (other.n - 1))
    half = t95(freedom) * math.sqrt(a + b)
    return gap, gap - half, gap + half
