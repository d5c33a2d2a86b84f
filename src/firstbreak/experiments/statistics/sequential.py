"""Looking at growing data several times with the error of one look: Pocock's boundary for any spacing of the looks.

Pocock (1977, Biometrika 64, 191) takes the same nominal level at every look. The level is found by the recursion of
Armitage, McPherson and Rowe (1969) for the looks as they are planned, and applied to Student's t (Jennison and
Turnbull 2000, section 4.4); how well that holds for a few pairs is measured in the tests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from ...series import Floats
from .student import legendre, t_quantile

_NODES = 60
"""Nodes of the quadrature at each look."""


@dataclass(frozen=True)
class Interval:
    """The mean of paired effects and its interval."""

    mean: float
    lo: float
    hi: float
    sd: float


def crossing(bound: float, looks: Sequence[int]) -> float:
    """Chance that |Z| exceeds `bound` at any of the `looks` (pairs so far, increasing), without any effect."""
    nodes, weights = legendre(_NODES)
    times = [n / looks[-1] for n in looks]
    half = bound * math.sqrt(times[0])
    where, weight = half * nodes, half * weights
    density = _normal(where, times[0])
    for earlier, now in pairwise(times):
        half = bound * math.sqrt(now)
        after = half * nodes
        density = _normal(after[:, None] - where[None, :], now - earlier) @ (weight * density)
        where, weight = after, half * weights
    return 1.0 - float(weight @ density)


@cache
def pocock_level(looks: tuple[int, ...], alpha: float) -> float:
    """Return the nominal two-sided level of each of the `looks` with which all of them together err by `alpha`."""
    if len(looks) == 1:
        return alpha
    lo, hi = 0.5, 10.0
    for _ in range(60):
        middle = 0.5 * (lo + hi)
        lo, hi = (middle, hi) if crossing(middle, looks) > alpha else (lo, middle)
    return math.erfc(0.5 * (lo + hi) / math.sqrt(2.0))


def looks_at(pilot: int, last: int, most_looks: int) -> tuple[int, ...]:
    """Return after how many pairs to look: after the pilot, at `last`, and evenly in between."""
    if last <= pilot:
        return (pilot,)
    steps = min(most_looks - 1, last - pilot)
    return (pilot, *(pilot + math.ceil((last - pilot) * i / steps) for i in range(1, steps + 1)))


def interval(effects: Sequence[float], level: float, least_sd: float = 0.0) -> Interval:
    """Return the mean of `effects` with its two-sided t interval at `level`; infinite for fewer than two.

    `least_sd` is the resolution below which a spread is not believed.
    """
    n = len(effects)
    if n == 0:
        return Interval(math.nan, -math.inf, math.inf, math.nan)
    values = np.asarray(effects, dtype=float)
    mean = float(values.mean())
    if n == 1:
        return Interval(mean, -math.inf, math.inf, math.nan)
    sd = max(float(values.std(ddof=1)), least_sd)
    half = t_quantile(1.0 - level / 2.0, n - 1) * sd / math.sqrt(n)
    return Interval(mean, mean - half, mean + half, sd)


def _normal(x: Floats, variance: float) -> Floats:
    return np.exp(-0.5 * x * x / variance) / math.sqrt(2.0 * math.pi * variance)
