"""A run's own pace: seconds between its rows, how long a silence is long for it, whether its metrics still move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...ingest.state import DONE
from ...runlog import RunLog
from ...series import Floats

RECENT_ROWS = 200
"""Rows that the pace is taken from: runs slow down."""
RATE_ROWS = 50
LONG_GAPS, LONGEST_GAPS, MOST_GAPS = 10.0, 2.0, 100.0
"""Silence is long beyond ten usual gaps and twice the longest of late (an evaluation), never beyond a hundred usual
ones (the gap of a resumed run says nothing). Engineering defaults."""
LEAST_SILENCE_S = 60.0
UNKNOWN_PACE_S = 600.0
"""How long a silence is long while the pace is not known."""
FROZEN_ROWS, FROZEN_TIMES, FROZEN_METRICS = 16, 3.0, 3
"""Rows in which nothing may move before the run counts as frozen: so many, and three times the longest such stretch
of this run; so many metrics must have moved before. Engineering defaults."""
UNJUDGED = ("time/", "system/", "perf/")
"""Metrics that move while nothing is learnt."""


def row_times(log: RunLog) -> Floats:
    """Return the wall-clock seconds [n] of the rows, from any origin, sorted; empty where the log does not tell."""
    timed = max((s for s in log.series if s.wall is not None), key=len, default=None)
    if timed is not None and timed.wall is not None:
        times = timed.wall
    elif log.clock == "seconds":
        longest = max(log.series, key=len, default=None)
        times = longest.step if longest is not None else np.empty(0)
    elif log.clocks is not None and "seconds" in log.clocks.others:
        times = log.clocks.others["seconds"]
    else:
        return np.empty(0)
    return np.unique(times[np.isfinite(times)])


@dataclass(frozen=True)
class Pace:
    """What a log tells of its own pace. `times` [n] are the wall-clock seconds of its rows of late."""

    times: Floats
    frozen: int
    """For how many rows no metric has moved, see `frozen_rows`."""

    @property
    def gaps_s(self) -> Floats:
        """The seconds [n - 1] between neighbouring rows."""
        return np.diff(self.times)


def pace_of(log: RunLog) -> Pace:
    """Return what `log` tells of its pace."""
    return Pace(row_times(log)[-RECENT_ROWS - 1 :], frozen_rows(log))


def patience_s(gaps: Floats) -> float:
    """Return how many seconds of silence are long for a run whose rows came `gaps` [n] seconds apart."""
    if gaps.size == 0:
        return UNKNOWN_PACE_S
    usual = float(np.median(gaps))
    own = min(max(LONG_GAPS * usual, LONGEST_GAPS * float(gaps.max())), MOST_GAPS * usual)
    return max(own, LEAST_SILENCE_S)


def planned(log: RunLog) -> float | None:
    """Return the length that the run was to have on its clock, None where its settings do not tell."""
    total = log.config.get("total_steps")
    if not isinstance(total, (int, float)) or isinstance(total, bool):
        return None
    return float(total) if 0 < total < float("inf") else None


def reached(log: RunLog) -> bool | None:
    """Return whether the run got to its planned length, None where that is not known."""
    total = planned(log)
    return None if total is None else log.last_step >= DONE * total


def points(log: RunLog) -> int:
    """Return the number of points over all curves: it grows with every row."""
    return sum(len(s) for s in log.series) + sum(len(c) for c in log.unmapped.values())


def rows(log: RunLog) -> int:
    """Return the number of rows: the points of the longest series."""
    return max((len(s) for s in log.series), default=0)


def frozen_rows(log: RunLog) -> int:
    """Return for how many rows no metric has moved, 0 while that is nothing unusual for this run."""
    moved: list[Floats] = []
    for series in log.series:
        if series.metric.startswith(UNJUDGED) or len(series) < 2:
            continue
        before, after = series.value[:-1], series.value[1:]
        changed = (before != after) & ~(np.isnan(before) & np.isnan(after))
        if changed.any():
            moved.append(series.step[1:][changed])
    longest = max(log.series, key=len, default=None)
    if len(moved) < FROZEN_METRICS or longest is None:
        return 0
    at = np.searchsorted(np.unique(longest.step), np.unique(np.concatenate(moved)))
    streak = int(np.unique(longest.step).size - 1 - at[-1])
    usual = int(np.diff(at).max()) if at.size > 1 else 1
    return streak if streak >= max(FROZEN_ROWS, FROZEN_TIMES * usual) else 0
