"""Student's t: distribution function, quantile, and the noncentral upper tail that power needs."""

from __future__ import annotations

import math
from functools import cache, lru_cache

import numpy as np

from ...series import Floats

_PANELS, _POINTS = 8, 50
"""Panels of the quadrature for the noncentral tail, and nodes of each: the error is below 1e-9 for 1 to 10,000 degrees
of freedom. The nodes of one rule of 400 points would cost more time than many an experiment."""


def t_cdf(t: float, df: float) -> float:
    """P(T <= t) for `df` degrees of freedom, by the incomplete beta function (Abramowitz and Stegun 1964, 26.7.1)."""
    if math.isinf(t):
        return 1.0 if t > 0 else 0.0
    if t * t < df:  # near 0 the other form keeps its digits
        half = 0.5 * _incomplete_beta(t * t / (df + t * t), 0.5, df / 2.0)
        return 0.5 + half if t > 0 else 0.5 - half
    tail = 0.5 * _incomplete_beta(df / (df + t * t), df / 2.0, 0.5)
    return 1.0 - tail if t > 0 else tail


@lru_cache(maxsize=4096)
def t_quantile(p: float, df: float) -> float:
    """Return t with P(T <= t) = p, by bisection to the last digit; p in (0, 1)."""
    if not 0.0 < p < 1.0:
        return math.inf if p >= 1.0 else -math.inf
    if p < 0.5:
        return -t_quantile(1.0 - p, df)
    lo, hi = 0.0, 1.0
    while t_cdf(hi, df) < p:
        lo, hi = hi, 2.0 * hi
    for _ in range(200):
        middle = 0.5 * (lo + hi)
        if middle in (lo, hi):
            break
        lo, hi = (middle, hi) if t_cdf(middle, df) < p else (lo, middle)
    return 0.5 * (lo + hi)


def noncentral_upper(t: float, df: int, shift: float) -> float:
    """P(T' > t) of the noncentral t with noncentrality `shift`.

    T' = (Z + shift) / U with U the root of chi-square over df: the normal tail is integrated over U, by Gauss-Legendre.
    """
    spread = 9.0 / math.sqrt(2.0 * df)
    lo, hi = max(1.0 - spread, 0.0), 1.0 + spread + (4.0 if df < 3 else 0.0)
    nodes, weights = legendre(_POINTS)
    half = 0.5 * (hi - lo) / _PANELS
    u = (lo + half * (2 * np.arange(_PANELS)[:, None] + 1) + half * nodes).reshape(-1)
    log_density = (
        math.log(2.0) + 0.5 * df * math.log(0.5 * df) - math.lgamma(0.5 * df) + (df - 1) * np.log(u) - 0.5 * df * u * u
    )
    upper = np.array([0.5 * math.erfc((t * v - shift) / math.sqrt(2.0)) for v in u])
    return float(np.sum(half * np.tile(weights, _PANELS) * np.exp(log_density) * upper))


@cache
def legendre(points: int) -> tuple[Floats, Floats]:
    """Return nodes and weights of the Gauss-Legendre rule on [-1, 1], each [points]."""
    nodes, weights = np.polynomial.legendre.leggauss(points)
    return nodes, weights


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised I_x(a, b) by its continued fraction (Abramowitz and Stegun 1964, 26.5.8), evaluated forwards."""
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - _incomplete_beta(1.0 - x, b, a)
    c, d = 1.0, 1.0 / (1.0 - (a + b) * x / (a + 1.0))
    fraction = d
    for m in range(1, 500):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / (1.0 + term * d)
            c = 1.0 + term / c
            fraction *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_front) * fraction / a
