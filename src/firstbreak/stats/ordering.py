"""Which of two onsets came first, and when that cannot be said."""

from __future__ import annotations

from enum import StrEnum


class Order(StrEnum):
    """The order of two onsets."""

    BEFORE = "before"
    AFTER = "after"
    TIED = "tied"


def probability_before(a: tuple[float, float], b: tuple[float, float]) -> float:
    """P(A < B) for A uniform on the interval `a` and B uniform on `b`; equal points count half."""
    (a_lo, a_hi), (b_lo, b_hi) = a, b
    if a_hi <= a_lo and b_hi <= b_lo:
        return 0.5 if a_lo == b_lo else float(a_lo < b_lo)
    if a_hi <= a_lo:
        return min(max((b_hi - a_lo) / (b_hi - b_lo), 0.0), 1.0)
    if b_hi <= b_lo:
        return min(max((b_lo - a_lo) / (a_hi - a_lo), 0.0), 1.0)
    # Integrate P(B > t) over t in `a`: 1 below b_lo, a falling line inside `b`, 0 above b_hi.
    below = max(0.0, min(a_hi, b_lo) - a_lo)
    left, right = max(a_lo, b_lo), min(a_hi, b_hi)
    inside = 0.0
    if right > left:
        inside = (right - left) * (b_hi - 0.5 * (left + right)) / (b_hi - b_lo)
    return (below + inside) / (a_hi - a_lo)


def order(a: tuple[float, float], b: tuple[float, float], cadence: float = 0.0, sure: float = 0.9) -> Order:
    """Return how onset interval `a` lies to `b`: before or after only with probability >= `sure` and a gap > `cadence`.

    `cadence` is the coarser logging distance of the two metrics. The gap is between the intervals' middles.
    """
    gap = 0.5 * (b[0] + b[1]) - 0.5 * (a[0] + a[1])
    if abs(gap) <= cadence:
        return Order.TIED
    p = probability_before(a, b)
    if gap > 0 and p >= sure:
        return Order.BEFORE
    if gap < 0 and 1 - p >= sure:
        return Order.AFTER
    return Order.TIED
