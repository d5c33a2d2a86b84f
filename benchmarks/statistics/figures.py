"""Scores on which firstbreak and rliable are held against each other, and firstbreak's figures of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from firstbreak.evaluation.statistics import (
    IQM,
    MEAN,
    Interval,
    interval,
    optimality_gap,
    performance_profile,
    probability_of_improvement,
)

Array = NDArray[np.float64]
REPS = 500
LIMIT = 1e-6
TARGETS = (1.0, 0.4)
THRESHOLDS = (-0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 2.0)


def _scores() -> dict[str, tuple[Array, Array]]:
    random = np.random.default_rng(0)
    wide = random.normal(0.5, 0.3, (23, 6)), random.normal(0.3, 0.3, (17, 6))
    few = random.exponential(0.5, (5, 3)), random.exponential(0.4, (4, 3))
    tied = random.integers(0, 4, (12, 4)) / 4.0, random.integers(0, 4, (12, 4)) / 4.0
    return {"many": wide, "few": few, "tied": tied}


SCORES = _scores()
"""Name -> scores of X and of Y, [runs, tasks] each: many runs, few and skewed ones, and many ties."""


def ours(x: Array, y: Array) -> dict[str, Any]:
    """Return firstbreak's figures by the names that `theirs` uses: value and ends."""
    aggregates = {"mean": MEAN, "iqm": IQM} | {f"gap to {t:g}": optimality_gap(t) for t in TARGETS}
    found: dict[str, Any] = {
        name: _of(interval(x, one, method="percentile", reps=REPS)) for name, one in aggregates.items()
    }
    found["improvement"] = _of(probability_of_improvement(x, y, method="percentile", reps=REPS))
    profile = performance_profile(x, np.array(THRESHOLDS), reps=REPS)
    assert profile.lo is not None
    assert profile.hi is not None
    found["profile"] = [profile.share.tolist(), profile.lo.tolist(), profile.hi.tolist()]
    return found


def _of(one: Interval) -> list[float]:
    return [one.value, one.lo, one.hi]


def apart(one: dict[str, Any], other: dict[str, Any]) -> dict[str, float]:
    """Return the largest difference of each figure."""
    assert one.keys() == other.keys()
    return {name: float(np.max(np.abs(np.subtract(one[name], other[name])))) for name in one}
