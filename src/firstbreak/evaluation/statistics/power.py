"""How many runs a comparison needs: the power of the t test (Colas et al. 2018, arXiv 1806.08295)."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ...errors import InputError
from ...series import Floats
from .student import normal_cdf, t_quantile

MOST = 1_000_000
"""Runs beyond which the answer is: too many."""


def power(effect: float, sd: float, runs: int, *, paired: bool = False, level: float = 0.95) -> float:
    """Return the probability that a two-sided t test of `runs` runs (a side, or pairs) sees a true `effect`.

    Args:
        effect: True difference of the means.
        sd: Standard deviation between runs of one side; of the differences when paired.
        runs: Runs a side, or pairs.
        paired: Whether runs belong together.
        level: 1 - the false-alarm rate.
    """
    _check(effect, sd)
    if runs < 2:
        return 0.0
    if sd == 0:
        return 1.0
    df = runs - 1.0 if paired else 2.0 * (runs - 1)
    shift = abs(effect) / sd * math.sqrt(runs if paired else runs / 2)
    bar = t_quantile(0.5 + level / 2, df)
    return _above(bar, shift, df) + _above(bar, -shift, df)


def runs_needed(
    effect: float, sd: float, *, wanted: float = 0.8, paired: bool = False, level: float = 0.95
) -> int | None:
    """Return the fewest runs a side (or pairs) with which the test sees `effect` with probability `wanted`.

    None when more than `MOST` would be needed.
    """
    _check(effect, sd)
    low, high = 1, 2
    while power(effect, sd, high, paired=paired, level=level) < wanted:
        low, high = high, 2 * high
        if high > MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if power(effect, sd, middle, paired=paired, level=level) < wanted:
            low = middle
        else:
            high = middle
    return high


def detectable(sd: float, runs: int, *, wanted: float = 0.8, paired: bool = False, level: float = 0.95) -> float:
    """Return the smallest true difference that `runs` runs a side (or pairs) see with probability `wanted`.

    Infinite for a single run.
    """
    if runs < 2:
        return math.inf
    if sd == 0:
        return 0.0
    low, high = 0.0, sd
    while power(high, sd, runs, paired=paired, level=level) < wanted:
        low, high = high, 2 * high
    while high - low > 1e-9 * high:
        middle = 0.5 * (low + high)
        if power(middle, sd, runs, paired=paired, level=level) < wanted:
            low = middle
        else:
            high = middle
    return high


def _check(effect: float, sd: float) -> None:
    if not (math.isfinite(effect) and effect != 0):
        raise InputError(f"An effect of {effect:g} cannot be looked for.", "Give the difference that would matter.")
    if not (math.isfinite(sd) and sd >= 0):
        raise InputError(f"A standard deviation of {sd:g} is none.", "Give that of earlier runs.")


@lru_cache(maxsize=1)
def _gauss() -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(200)


def _above(bar: float, shift: float, df: float) -> float:
    """Return P(T > bar) of the noncentral t: the normal's tail averaged over the scale (Gauss-Legendre, 200 points)."""
    if df > 50_000:
        return normal_cdf(shift - bar)
    nodes, weights = _gauss()
    spread = 1.0 / math.sqrt(2.0 * df)
    lo, hi = max(0.0, 1.0 - 12 * spread), 1.0 + 12 * spread
    scale = lo + (hi - lo) * (nodes + 1) / 2
    log_density = (
        math.log(2.0)
        + 0.5 * df * math.log(0.5 * df)
        - math.lgamma(0.5 * df)
        + (df - 1.0) * np.log(scale)
        - 0.5 * df * scale**2
    )
    tail = np.array([normal_cdf(shift - bar * s) for s in scale])
    return float((hi - lo) / 2 * np.sum(weights * np.exp(log_density) * tail))
