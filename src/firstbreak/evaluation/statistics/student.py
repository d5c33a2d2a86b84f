"""Student's t and the normal distribution, without SciPy."""

from __future__ import annotations

import math
from statistics import NormalDist

NORMAL = NormalDist()
_MANY = 30
"""Degrees of freedom from which Newton's method cannot fail."""
_TINY = 1e-300


def normal_cdf(x: float) -> float:
    """Return P(Z <= x) of the standard normal."""
    return 0.5 * math.erfc(-x / math.sqrt(2))


def normal_quantile(p: float) -> float:
    """Return the x with P(Z <= x) = `p`; 0 < p < 1."""
    return NORMAL.inv_cdf(p)


def t_cdf(x: float, df: float) -> float:
    """Return P(T <= x) of Student's t with `df` > 0 degrees of freedom, which need not be whole."""
    if math.isinf(x):
        return 0.0 if x < 0 else 1.0
    if x * x < df:  # near the middle, where the tail would lose its digits
        return 0.5 + math.copysign(0.5, x) * beta_inc(0.5, 0.5 * df, x * x / (df + x * x))
    tail = 0.5 * beta_inc(0.5 * df, 0.5, df / (df + x * x))
    return tail if x < 0 else 1.0 - tail


def t_quantile(p: float, df: float) -> float:
    """Return the x with P(T <= x) = `p`; 0 < p < 1."""
    if p == 0.5:
        return 0.0
    if p < 0.5:
        return -t_quantile(1.0 - p, df)
    if df > _MANY:
        return _by_newton(p, df)
    low, high = 0.0, 2.0
    while t_cdf(high, df) < p:
        low, high = high, 4.0 * high
    for _ in range(200):
        middle = 0.5 * (low + high)
        if t_cdf(middle, df) < p:
            low = middle
        else:
            high = middle
        if high - low <= 1e-13 * high:
            break
    return 0.5 * (low + high)


def _by_newton(p: float, df: float) -> float:
    """Return the quantile from the normal's, moved by the first term of Cornish and Fisher, then by Newton's steps."""
    z = normal_quantile(p)
    x = z + (z**3 + z) / (4 * df)
    scale = math.lgamma(0.5 * (df + 1)) - math.lgamma(0.5 * df) - 0.5 * math.log(df * math.pi)
    for _ in range(6):
        density = math.exp(scale - 0.5 * (df + 1) * math.log1p(x * x / df))
        step = (t_cdf(x, df) - p) / density
        x -= step
        if abs(step) <= 1e-13 * x:
            break
    return x


def beta_inc(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function (Lentz's continued fraction; Press et al. 2007, section 6.4)."""
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _fraction(a, b, x) / a
    return 1.0 - front * _fraction(b, a, 1.0 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    c, d = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        d = 1.0 / _away(1.0 + even * d)
        c = _away(1.0 + even / c)
        value *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        d = 1.0 / _away(1.0 + odd * d)
        c = _away(1.0 + odd / c)
        step = d * c
        value *= step
        if abs(step - 1.0) < 1e-15:
            break
    return value


def _away(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
