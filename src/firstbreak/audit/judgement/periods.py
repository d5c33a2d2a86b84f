"""The beginning of training against its end, by prompts: how far a column moved, with an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..table import Table
from .groups import Floats, dense, mean_within
from .paid import column

LEAST = 12
"""Prompts in either period. Engineering default."""
Z95 = 1.959964


@dataclass(frozen=True)
class Move:
    """Mean of the last third of the steps minus that of the first third, 95 % interval; prompts are the units."""

    early: float
    late: float
    change: float
    low: float
    high: float
    spread: float
    """Standard deviation between prompts, both periods together."""

    @property
    def up(self) -> bool:
        """Whether it surely rose."""
        return self.low > 0

    @property
    def down(self) -> bool:
        """Whether it surely fell."""
        return self.high < 0


def periods(table: Table) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
    """Return the rows of the first and of the last third of the steps [N]; None where steps are unknown or one."""
    step = column(table, "step")
    known = np.unique(step[np.isfinite(step)])
    if known.size < 3:
        return None
    return step <= np.quantile(known, 1 / 3), step >= np.quantile(known, 2 / 3)


def move(table: Table, values: Floats) -> Move | None:
    """Return how `values` [N] moved from the first to the last third of the steps, or None if that is not known."""
    parts = periods(table)
    if parts is None:
        return None
    index = dense(table.group)
    early, late = (_means(np.where(part, values, np.nan), index) for part in parts)
    if min(early.size, late.size) < LEAST:
        return None
    change = float(late.mean() - early.mean())
    error = math.sqrt(float(early.var(ddof=1)) / early.size + float(late.var(ddof=1)) / late.size)
    spread = math.sqrt(0.5 * (float(early.var(ddof=1)) + float(late.var(ddof=1))))
    return Move(float(early.mean()), float(late.mean()), change, change - Z95 * error, change + Z95 * error, spread)


def _means(values: Floats, index: NDArray[np.int64]) -> Floats:
    found = mean_within(values, index)
    return found[np.isfinite(found)]
