"""Statistics of paired seeds: Student's t, how many pairs are needed, and looking more than once without cheating.

Small implementations on numpy; their twins in the tests are SciPy's.
"""

from __future__ import annotations

from .power import MANY, pairs_needed, power_of
from .sequential import Interval, crossing, interval, looks_at, pocock_level
from .student import noncentral_upper, t_cdf, t_quantile

__all__ = [
    "MANY",
    "Interval",
    "crossing",
    "interval",
    "looks_at",
    "noncentral_upper",
    "pairs_needed",
    "pocock_level",
    "power_of",
    "t_cdf",
    "t_quantile",
]
