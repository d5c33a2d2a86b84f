"""Statistics for short, autocorrelated, non-stationary metric series. Pure functions on numpy arrays.

Every function here has a slow, obvious twin in `tests/unit/stats`. May import numpy and `firstbreak.series` only.
"""

from __future__ import annotations

from .change import Change, borne_out, first_run, persistent_onset, step_change, surpassed, two_piece_onset
from .identity import identity_broken
from .intervals import iqm, mean_interval
from .ordering import Order, order, probability_before
from .records import record_moves, record_moves_of_each
from .robust import inflation, inflation_from, lag1, logit, mad, median, quantile, robust_z, safe_log
from .trend import Comparison, Trend, compare, count_swings, linear_trend, monotone_z, rank_correlation

__all__ = [
    "Change",
    "Comparison",
    "Order",
    "Trend",
    "borne_out",
    "compare",
    "count_swings",
    "first_run",
    "identity_broken",
    "inflation",
    "inflation_from",
    "iqm",
    "lag1",
    "linear_trend",
    "logit",
    "mad",
    "mean_interval",
    "median",
    "monotone_z",
    "order",
    "persistent_onset",
    "probability_before",
    "quantile",
    "rank_correlation",
    "record_moves",
    "record_moves_of_each",
    "robust_z",
    "safe_log",
    "step_change",
    "surpassed",
    "two_piece_onset",
]
