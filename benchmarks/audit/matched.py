"""Areas under the ROC curve, whole and at matched length; tests/unit/audit/checks/text has the slow twins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
NEAR = 1.25
"""Lengths within this factor count as matched."""


def area(some: Floats, others: Floats) -> float:
    """Return P(a value of `some` > a value of `others`), ties counting half; NaN where a side is empty."""
    if not some.size or not others.size:
        return float("nan")
    ordered = np.sort(others)
    below = np.searchsorted(ordered, some, side="left")
    equal = np.searchsorted(ordered, some, side="right") - below
    return float((below + 0.5 * equal).mean() / ordered.size)


def area_matched(scores: Floats, length: Floats, some: NDArray[np.bool_], others: NDArray[np.bool_]) -> float:
    """Return the same over those pairs whose lengths differ by less than a quarter; NaN where there is none."""
    near = np.abs(np.log((length[some][:, None] + 1) / (length[others][None, :] + 1))) < np.log(NEAR)
    gap = scores[some][:, None] - scores[others][None, :]
    wins = (gap > 0) + 0.5 * (gap == 0)
    return float(wins[near].mean()) if near.any() else float("nan")
