"""What changed: against the samples of a reference, or from the first to the last steps of training."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..table import Column, Fingerprints, Table

FEWEST = 20
"""Samples on either side, fewer say nothing. Engineering default."""


@dataclass(frozen=True)
class Change:
    """The mean of one column before and after."""

    before: float
    after: float
    spread: float
    """Standard deviation of the samples before and after, pooled; 0 where nothing varies."""
    z: float
    """Difference by its standard error over prompts; infinite where nothing varies on either side."""

    @property
    def shift(self) -> float:
        """The difference in standard deviations of the samples (Cohen 1988)."""
        return ratio(self.after - self.before, self.spread)


@dataclass(frozen=True)
class Stages:
    """Two sets of samples to compare."""

    before: Table
    is_before: NDArray[np.bool_]
    is_after: NDArray[np.bool_]
    against: str
    """`reference`, or `first steps`."""


def stages(table: Table) -> Stages | None:
    """Return what to compare: the reference with all samples, else the first third of the steps with the last third.

    None where there is neither, or fewer than `FEWEST` samples on a side.
    """
    if table.reference is not None:
        whole = np.ones(table.reference.n, bool)
        found = Stages(table.reference, whole, np.ones(table.n, bool), "reference")
    else:
        step = table.get("step")
        if step is None:
            return None
        known = np.unique(step[np.isfinite(step)])
        if known.size < 2:
            return None
        third = max(1, known.size // 3)
        found = Stages(table, step <= known[third - 1], step >= known[-third], "first steps")
    return found if min(found.is_before.sum(), found.is_after.sum()) >= FEWEST else None


def change(table: Table, name: str, staged: Stages) -> Change | None:
    """Return how the mean of a column changed; None where it is not known of `FEWEST` samples on both sides."""
    before, after = staged.before.get(name), table.get(name)
    if before is None or after is None:
        return None
    one, one_groups = _known(before, staged.before.group, staged.is_before)
    other, other_groups = _known(after, table.group, staged.is_after)
    if min(one.size, other.size) < FEWEST:
        return None
    error = float(np.hypot(error_by_group(one, one_groups), error_by_group(other, other_groups)))
    difference = float(other.mean() - one.mean())
    spread = float(np.sqrt((one.var() * one.size + other.var() * other.size) / (one.size + other.size)))
    return Change(float(one.mean()), float(other.mean()), spread, ratio(difference, error))


def ratio(difference: float, spread: float) -> float:
    """Return a difference by its spread; infinite where something differs and nothing varies."""
    if spread > 0:
        return difference / spread
    return math.copysign(math.inf, difference) if difference else 0.0


def _known(column: Column, group: Fingerprints, chosen: NDArray[np.bool_]) -> tuple[NDArray[np.float64], Fingerprints]:
    keep = chosen & np.isfinite(column)
    return column[keep].astype(np.float64), group[keep]


def error_by_group(values: NDArray[np.float64], group: Fingerprints) -> float:
    """Return the standard error of the mean of `values` [n] when samples of a group are not independent.

    Cluster-robust (Liang and Zeger 1986) with G / (G - 1); of a single group, that of independent samples.
    """
    _, owner = np.unique(group, return_inverse=True)
    count = int(owner.max()) + 1
    centred = values - values.mean()
    if count < 2:
        return float(values.std(ddof=1)) / values.size**0.5
    sums = np.bincount(owner, centred, count)
    return float(np.sqrt(count / (count - 1) * np.dot(sums, sums))) / values.size
