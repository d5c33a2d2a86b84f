"""Rates over rows that each hold several trials, with intervals that know that trials of one row are alike."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ...preflight.data.counting import rate_interval


@dataclass(frozen=True)
class Rate:
    """A share with its 95 % interval."""

    hits: int
    tries: int
    rows: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """The share; 0 without a trial."""
        return self.hits / self.tries if self.tries else 0.0

    def words(self) -> str:
        """Return it for a message: `12 of 40 (30 %)`."""
        percent = 100 * self.value
        return (
            f"{self.hits} of {self.tries} ({percent:.2g} %)"
            if percent < 10
            else f"{self.hits} of {self.tries} ({percent:.0f} %)"
        )


def clustered_rate(trials: Iterable[tuple[int, bool]]) -> Rate:
    """Return the rate of hits among (row, hit).

    The variance is that of a ratio over rows (Cochran 1977, section 11.8); the interval is Wilson's with as many trials
    as would give that variance if they were independent, at most as many as there are and at least as many as rows
    (Korn and Graubard 1998 do the same with Clopper-Pearson).
    """
    tries: dict[int, int] = {}
    hits: dict[int, int] = {}
    for row, hit in trials:
        tries[row] = tries.get(row, 0) + 1
        hits[row] = hits.get(row, 0) + bool(hit)
    n, k, rows = sum(tries.values()), sum(hits.values()), len(tries)
    if not n:
        return Rate(0, 0, 0, 0.0, 1.0)
    effective = min(float(n), max(float(rows), _effective(tries, hits, n, k)))
    low, high = rate_interval_of(k / n, effective)
    return Rate(k, n, rows, low, high)


def _effective(tries: dict[int, int], hits: dict[int, int], n: int, k: int) -> float:
    rows, rate = len(tries), k / n
    if rows < 2 or not 0 < k < n:
        return float(rows)
    spread = sum((hits[row] - rate * tries[row]) ** 2 for row in tries)
    variance = rows / (rows - 1) * spread / n**2
    return rate * (1 - rate) / variance if variance > 0 else float(n)


def rate_interval_of(rate: float, n: float, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's interval of a `rate` seen in `n` independent trials; `n` need not be whole."""
    if n <= 0:
        return rate_interval(0, 0)
    square = z * z / n
    centre = (rate + square / 2) / (1 + square)
    half = z / (1 + square) * math.sqrt(rate * (1 - rate) / n + square / (4 * n))
    return max(0.0, centre - half), min(1.0, centre + half)
