"""How far a sample stands out from its rivals at the same prompt, once its length is allowed for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .groups import Floats, Index, median_within

ROUNDS = 10
"""Rounds of concentration; it settles in a few (Rousseeuw & Van Driessen 2006)."""
KEPT = 0.55
"""Share of the points that the line must fit; up to 45 % may be hacked. Rousseeuw 1984 keeps a half."""
RIDGE = 0.1
"""Spread of the logarithm of lengths below which length explains little: a tenth. Engineering default."""
FARTHEST = 8.0
"""Spreads at which a contrast is cut: farther out says no more."""


def contrast(values: Floats, index: Index, log_length: Floats, unit: float) -> Floats:
    """Return how many spreads each of `values` [N] lies above its prompt's median, at equal length [N]; 0 if unknown.

    What length explains is a line through the differences, fitted to the bulk of the samples. The spread is robust too,
    but at least half the standard deviation and at least `unit`, the least amount that is worth a look: else a mark
    that is nearly constant would make a mountain of any grain.
    """
    inner = values - median_within(values, index)[index]
    shift = log_length - median_within(log_length, index)[index]
    good = np.isfinite(inner) & np.isfinite(shift)
    if good.sum() < 8:
        return np.zeros(values.size)
    residual = np.full(values.size, np.nan)
    residual[good] = inner[good] - line(shift[good], inner[good])
    spread = max(_mad(residual[good]), 0.5 * float(np.std(residual[good])), unit)
    return np.clip(np.nan_to_num(residual / spread, nan=0.0), -FARTHEST, FARTHEST)


def at_equal_length(values: Floats, log_length: Floats) -> Floats:
    """Return what the length alone lets expect of `values` [N]; NaN where either is unknown."""
    good = np.isfinite(values) & np.isfinite(log_length)
    expected = np.full(values.size, np.nan)
    if good.any():
        expected[good] = line(log_length[good], values[good])
    return expected


def line(x: Floats, y: Floats) -> Floats:
    """Return the values [n] of the line through `y` over `x` that fits `KEPT` of the points best.

    Least trimmed squares (Rousseeuw 1984), begun once with the points in the middle of `x` and once with those in the
    middle of `y`: hacks are often the longest answers, and a line through all points would take what they do for an
    effect of length. `RIDGE` keeps lengths that hardly differ from explaining anything.
    """
    kept = max(2, int(KEPT * x.size)) - 1
    fits = [_concentrate(x, y, _nearest(np.abs(v - np.median(v)), kept), kept) for v in (x, y)]
    return min(fits, key=lambda fitted: float(np.partition(np.abs(y - fitted), kept)[: kept + 1].sum()))


def _concentrate(x: Floats, y: Floats, chosen: NDArray[np.bool_], kept: int) -> Floats:
    """Fit the chosen points, choose those that fit best, and again."""
    fitted = np.zeros(x.size)
    for _ in range(ROUNDS):
        shift = x[chosen] - x[chosen].mean()
        slope = float(shift @ y[chosen]) / float(shift @ shift + shift.size * RIDGE**2)
        fitted = y[chosen].mean() + slope * (x - x[chosen].mean())
        again = _nearest(np.abs(y - fitted), kept)
        if np.array_equal(again, chosen):
            break
        chosen = again
    return fitted


def _nearest(gaps: Floats, kept: int) -> NDArray[np.bool_]:
    """Return which gaps are among the smallest, all that tie with the last of them included."""
    return gaps <= np.partition(gaps, kept)[kept]


def _mad(values: Floats) -> float:
    return 1.4826 * float(np.median(np.abs(values - np.median(values))))
