"""Healthy sibling runs as reference: what the siblings also do is not a fault of this run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .finding import Finding, Severity
from .runlog import RunLog
from .series import Floats, Scope, Series

MARGIN = 0.25
"""The siblings' range is widened by this share of itself on both sides. Engineering default."""
INSIDE = 0.9
"""Share of points from the onset on that must lie inside for a finding to be excused. Engineering default."""


def excuse(finding: Finding, log: RunLog, siblings: Sequence[RunLog]) -> Finding:
    """Demote `finding` to info when its metric stays within the siblings' range from its onset on.

    Static findings (invariants, hard bounds) are never excused: siblings may share the bug.
    """
    if finding.static or finding.severity is Severity.INFO:
        return finding
    mine = log.get(finding.metric, finding.scope)
    if mine is None:
        return finding
    share = share_inside(mine, siblings, finding.scope, finding.onset.lo)
    if share is None or share < INSIDE:
        return finding
    evidence = {**finding.evidence, "inside_baseline_frac": round(share, 3), "baseline_runs": len(siblings)}
    return replace(finding, severity=Severity.INFO, evidence=evidence)


def share_inside(mine: Series, siblings: Sequence[RunLog], scope: Scope, start: float) -> float | None:
    """Return the share of points from `start` on that lie in the siblings' widened range; None when none overlaps."""
    finite = np.isfinite(mine.value) & (mine.step >= start)
    step, value = mine.step[finite], mine.value[finite]
    curves = [_at(other, step) for log in siblings if (other := log.get(mine.metric, scope)) is not None and len(other)]
    if step.size == 0 or not curves:
        return None
    table = np.array(curves)
    known = np.isfinite(table).any(axis=0)
    if not known.any():
        return None
    low, high = np.nanmin(table[:, known], axis=0), np.nanmax(table[:, known], axis=0)
    whole = float(np.nanmax(table) - np.nanmin(table))
    slack = MARGIN * np.maximum(high - low, MARGIN * whole)
    inside = (value[known] >= low - slack) & (value[known] <= high + slack)
    return float(inside.mean())


def _at(series: Series, step: Floats) -> Floats:
    """Values of `series` at `step` [n] by interpolation, NaN outside its extent."""
    finite = np.isfinite(series.value)
    if not finite.any():
        return np.full(step.size, np.nan)
    return np.interp(step, series.step[finite], series.value[finite], left=np.nan, right=np.nan)
