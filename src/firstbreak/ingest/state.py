"""Whether a run is running, stalled, finished or crashed, as far as its log tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..runlog import Recording

DONE = 0.98
"""Share of the planned steps from which a run counts as finished: the last row is written before the last update."""
QUIET_ROWS, QUIET_SECONDS = 10.0, 600.0
"""A log is quiet when nothing was written for ten times its usual interval, and at least ten minutes."""


def run_state(recordings: Sequence[Recording], config: Mapping[str, Any], last_step: float, now: float | None) -> str:
    """Return running, stalled, finished, crashed, or `""` when the log does not tell.

    `now` is the present in seconds since the epoch; without it a run is never called running or stalled.
    """
    ended = {recording.ended for recording in recordings}
    for state in ("crashed", "finished"):
        if state in ended:
            return state
    total = _number(config.get("total_steps"))
    if total is not None and total > 0 and last_step >= DONE * total:
        return "finished"
    written = max((recording.modified for recording in recordings), default=0.0)
    if now is None or written <= 0.0:
        return ""
    if now - written <= max(QUIET_ROWS * interval(recordings), QUIET_SECONDS):
        return "running"
    return "stalled" if total is not None else ""


def interval(recordings: Sequence[Recording]) -> float:
    """Return the median seconds between two rows, 0 when not known."""
    walls = [curve.wall for r in recordings for curve in r.curves.values() if curve.wall is not None]
    longest = max(walls, key=len, default=None)
    if longest is None or longest.size < 2:
        return 0.0
    gaps = np.diff(np.unique(longest[np.isfinite(longest)]))
    return float(np.median(gaps)) if gaps.size else 0.0


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
