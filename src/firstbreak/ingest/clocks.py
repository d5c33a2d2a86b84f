"""Which clock a run counts on, how its other clocks are tied to it, and how foreign curves are brought onto it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..runlog import CLOCKS, ClockMap, Recording
from ..series import Curve, Floats, Series

MAX_TIES = 4096
"""Points kept of the map between clocks."""
TIED_BY = {"time/env_steps": "env_steps", "time/iteration": "updates", "time/elapsed_s": "seconds"}
"""Metrics that are themselves a clock."""


def clock_of(recording: Recording, recognised: str) -> str:
    """Return what the step axis of `recording` counts: what its format says, else what the framework does."""
    clock = recording.clock or recognised
    return clock if clock in CLOCKS else "rows"


def run_clock(recordings: Sequence[Recording], recognised: str) -> str:
    """Return the clock of the run: the framework's where a source counts on it, else that of most points."""
    weights: Counter[str] = Counter()
    for recording in recordings:
        weights[clock_of(recording, recognised)] += recording.points + 1
    if recognised in weights:
        return recognised
    for_real = {clock: weight for clock, weight in weights.items() if clock != "rows"}
    return max(for_real or weights or {"rows": 1}, key=lambda clock: (for_real or weights)[clock])


def wall_origin(recordings: Sequence[Recording]) -> float:
    """Return the earliest wall time of any point, NaN where there is none."""
    walls = [c.wall for r in recordings for c in r.curves.values() if c.wall is not None and len(c)]
    return min((float(np.nanmin(wall)) for wall in walls if np.any(np.isfinite(wall))), default=float("nan"))


def tie(clock: str, series: Sequence[Series], curves: Sequence[Curve], origin: float) -> ClockMap | None:
    """Tie `clock`, on which `series` and `curves` are, to the other clocks; None where nothing ties it.

    Seconds count from the wall time `origin`, or as the run itself logged them.
    """
    others: dict[str, tuple[Floats, Floats]] = {}
    for item in series:
        name = TIED_BY.get(item.metric)
        if name is not None and name != clock and len(item) > 1:
            others.setdefault(name, (item.step, item.value))
    timed = max((curve for curve in curves if curve.wall is not None), key=len, default=None)
    if timed is not None and timed.wall is not None and clock != "seconds" and len(timed) > 1:
        others["seconds"] = (timed.step, timed.wall - origin)
    cleaned = {name: _monotone(step, value) for name, (step, value) in others.items()}
    cleaned = {name: pair for name, pair in cleaned.items() if pair[0].size > 1}
    if not cleaned:
        return None
    at = np.concatenate([pair[0] for pair in cleaned.values()])
    at.sort()
    at = at[np.append(at[1:] != at[:-1], True)]  # as `numpy.unique`, without its detours
    if at.size > MAX_TIES:
        at = at[np.linspace(0, at.size - 1, MAX_TIES).astype(np.intp)]
    return ClockMap(clock, at, {name: np.interp(at, step, value) for name, (step, value) in cleaned.items()})


def _monotone(step: Floats, value: Floats) -> tuple[Floats, Floats]:
    sound = np.isfinite(value) & np.isfinite(step)
    if sound.all():
        return step, np.maximum.accumulate(value)
    return step[sound], np.maximum.accumulate(value[sound]) if sound.any() else value[sound]


def onto(curve: Curve, clock: str, ties: ClockMap | None, origin: float) -> Curve | None:
    """Return `curve`, whose steps count `clock`, on the clock of `ties`; None where nothing ties them."""
    if ties is None:
        return None
    known = ties.others.get(clock)
    if known is not None:
        return Curve(np.interp(curve.step, known, ties.at), curve.value, curve.wall)
    seconds = ties.others.get("seconds")
    if curve.wall is not None and seconds is not None and np.isfinite(origin):
        return Curve(np.interp(curve.wall - origin, seconds, ties.at), curve.value, curve.wall)
    return None
