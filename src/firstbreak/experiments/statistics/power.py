"""How many pairs of seeds a verdict needs."""

from __future__ import annotations

import math

from .student import noncentral_upper, t_quantile

MANY = 10_000
"""Beyond so many pairs the answer is "more than that"."""


def power_of(pairs: int, sd: float, distance: float, level: float) -> float:
    """Chance that the interval of `pairs` effects with spread `sd` clears a threshold at `distance` from their mean.

    The interval is two-sided at `level`; the paired t test's power with the noncentral t (Cohen 1988, section 2.3).
    """
    if pairs < 2:
        return 0.0
    if sd <= 0.0:
        return 1.0 if distance > 0 else 0.0
    df = pairs - 1
    return noncentral_upper(t_quantile(1.0 - level / 2.0, df), df, distance * math.sqrt(pairs) / sd)


def pairs_needed(sd: float, distance: float, *, level: float, power: float, least: int = 2) -> int:
    """Return the fewest pairs, at least `least`, with `power` at this `distance`; `MANY` when that is not enough."""
    if distance <= 0.0 or not math.isfinite(sd) or power_of(MANY, sd, distance, level) < power:
        return MANY
    lo, hi = least, least
    while power_of(hi, sd, distance, level) < power:
        lo, hi = hi, min(2 * hi, MANY)
    while lo < hi:
        middle = (lo + hi) // 2
        lo, hi = (lo, middle) if power_of(middle, sd, distance, level) >= power else (middle + 1, hi)
    return hi
