"""Intervals for small samples."""

from __future__ import annotations

import numpy as np

from ..series import Floats

# Two-sided 95 % quantiles of Student's t for 1..30 degrees of freedom (standard table). Beyond, the
# first term of the Cornish-Fisher expansion around 1.96 is right to 0.003.
_T95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


def mean_interval(values: Floats) -> tuple[float, float, float]:
    """Mean of `values` [n] and its 95 % t interval; the interval is (-inf, inf) for fewer than 2 values."""
    n = int(values.size)
    if n == 0:
        return float("nan"), float("-inf"), float("inf")
    centre = float(values.mean())
    if n == 1:
        return centre, float("-inf"), float("inf")
    quantile = _T95[n - 2] if n - 2 < len(_T95) else 1.96 + 2.37 / (n - 1)
    half = quantile * float(values.std(ddof=1)) / float(np.sqrt(n))
    return centre, centre - half, centre + half


def iqm(values: Floats) -> float:
    """Interquartile mean of `values` [n]: the mean of the middle half (Agarwal et al. 2021, arXiv 2108.13264)."""
    if values.size == 0:
        return float("nan")
    ordered = np.sort(values)
    cut = values.size // 4
    return float(ordered[cut : values.size - cut].mean())
