"""When the true score was lost: the yardstick of lead time, read from outside the training loop."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .corpus import Run

Floats = NDArray[np.float64]

LOST, COLLAPSED = 0.2, 0.5
"""Shares of what had been gained: when it counts as lost, and what is gone at the end of a collapse. As in the
benchmark of the monitor (benchmarks/live)."""
WINDOW = 5
"""Points of the true score that its level is the mean of: episodes differ far more than policies do. Engineering
default, 6 % of the 80 points that are kept of a run."""


@dataclass(frozen=True)
class Loss:
    """What became of the true score after the fault. Positions are on the clock of the rows."""

    learned: bool
    """Whether anything had been gained by the time of the fault that could be lost."""
    lost_at: float
    """Where a fifth of the gain was gone at two points on end, or at the last; NaN if never."""
    collapsed: bool
    """Whether half of it was gone at the end, or training died."""
    window: float = 0.0
    """Distance of two points of the true score: what `lost_at` is known to."""

    @property
    def in_question(self) -> bool:
        """Whether an alarm could have come in time: a collapse whose moment is known."""
        return self.collapsed and not math.isnan(self.lost_at)


def levels(score: Floats) -> Floats:
    """Return the mean [n] of the last `WINDOW` points at each point; what is not finite is as bad as can be."""
    known = np.where(np.isfinite(score), score, -np.inf)
    return np.array([known[max(0, end - WINDOW) : end].mean() for end in range(1, score.size + 1)])


def loss_of(run: Run) -> Loss | None:
    """Return what became of the score of a run whose fault began in mid-run; None for others or without a score."""
    step, score = np.array(run.truth.step), np.array(run.truth.score)
    before = step <= run.start
    if not run.mid_run or before.sum() < 2 * WINDOW or before.all():
        return None
    level = levels(score)
    start, now = level[WINDOW - 1], level[before][-1]
    gained = now - start
    noise = float(np.std(score[:WINDOW])) / np.sqrt(WINDOW)
    learned = bool(np.isfinite(gained) and gained > 2 * noise and gained > 0)
    low = level[~before] < now - LOST * gained
    stays = low & np.append(low[1:], True)
    lost_at = float(step[~before][stays][0]) if learned and stays.any() else math.nan
    gone = learned and (bool(run.died) or bool(level[-1] < now - COLLAPSED * gained))
    return Loss(learned, lost_at, gone, float(np.median(np.diff(step))))
