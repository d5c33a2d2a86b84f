"""Warnings that passed by themselves in a run that is well are its history, no alarms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .finding import Finding, Severity
from .runlog import RunLog
from .series import Series
from .stats.level import level

SCORES = ("reward/eval_mean", "reward/score", "reward/eval_return_mean", "reward/eval_return", "reward/true_objective")
"""What says so apart from what is trained on: a reward at its best is no excuse while one of these is down."""
RETURNS = ("reward/episode_return_mean", "reward/episode_return", "reward/raw_episode_return", "reward/train_mean")
"""What says how well a run does, the first that is logged."""
LEAST = 4
"""Evaluations from which on a score is asked."""
DOWN = 0.5
"""The same distance from which a score is down. Engineering default: few evaluations scatter by a quarter of their
range."""
AT_BEST = 0.1
"""Distance from the best, as a share of the range, within which a return is at its best. Engineering default."""
CLIMBING = 0.2
"""The same for a return that climbs: over the last eighth of a straight climb it falls short by a sixteenth, and by the
scatter of single rows. Engineering default."""


def quieten(findings: Sequence[Finding], log: RunLog) -> list[Finding]:
    """Return the findings; warnings that passed are at `info` where nothing else is wrong and the return at its best.

    A trend that mended itself in a run that is well otherwise is part of its history, no alarm; beside anything that
    lasts it is evidence and keeps its weight.
    """
    loud = [f for f in findings if not f.ignored and f.severity is not Severity.INFO]
    if any(f.resolved_at is None or f.static or f.severity is Severity.ERROR for f in loud):
        return list(findings)
    returns = next((s for name in RETURNS if (s := log.get(name)) is not None), None)
    if returns is None or not at_best(returns):
        return list(findings)
    if any(below_best(score) > DOWN for name in SCORES if (score := log.get(name)) is not None and len(score) >= LEAST):
        return list(findings)
    return [replace(f, severity=Severity.INFO) for f in findings]


def at_best(series: Series) -> bool:
    """Whether a return is at its best; of one that climbs, the recent points lie below the newest."""
    stand = level(series.value[np.isfinite(series.value)])
    return stand.shortfall <= (CLIMBING if stand.rising else AT_BEST)


def below_best(series: Series) -> float:
    """How far the recent points of `series` lie below its best, as a share of its range; NaN where it never moved."""
    return level(series.value[np.isfinite(series.value)]).shortfall
