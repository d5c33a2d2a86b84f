"""Counts and how sure they are."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def rate_interval(hits: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """Return the interval of a rate of `hits` in `n` (Wilson 1927); (0, 1) without a trial."""
    if n == 0:
        return 0.0, 1.0
    rate, square = hits / n, z * z / n
    centre = (rate + square / 2) / (1 + square)
    half = z / (1 + square) * math.sqrt(rate * (1 - rate) / n + square / (4 * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def even_chance(hits: int, n: int) -> float:
    """Return the probability of `hits` or more heads in `n` throws of an even coin."""
    if hits <= 0:
        return 1.0
    logs = [math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in range(hits, n + 1)]
    if not logs:
        return 0.0
    top = max(logs)
    return min(1.0, math.exp(top - n * math.log(2)) * sum(math.exp(one - top) for one in logs))


def repeats(keys: NDArray[np.int64]) -> tuple[int, int]:
    """Return how many of `keys` [n] repeat an earlier one, and the index of the first that does (-1: none)."""
    _, first = np.unique(keys, return_index=True)
    count = int(keys.size - first.size)
    if not count:
        return 0, -1
    fresh = np.zeros(keys.size, bool)
    fresh[first] = True
    return count, int(np.flatnonzero(~fresh)[0])


def shown(part: int, whole: int) -> str:
    """Return a share in words of numbers: `3 of 1000 (0.3 %)`."""
    percent = 100 * part / whole if whole else 0.0
    return f"{part} of {whole} ({percent:.2g} %)" if percent < 10 else f"{part} of {whole} ({percent:.0f} %)"
