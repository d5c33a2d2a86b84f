"""Logs that are rotated: the file is moved away or emptied, and the same run goes on in a new one.

What was read before stays: a break that lies in the file that went is a break of the run all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...ingest.clocks import tie
from ...ingest.meaning import MOVED
from ...runlog import RunLog
from ...series import Curve, Floats, Scope, Series

PASSING = ("time/", "system/", "perf/")
"""Metrics that prove nothing of where a log belongs: no two writings of one row need agree on them."""

Name = tuple[str, Scope]


def goes_on(before: RunLog, after: RunLog) -> bool:
    """Return whether `after`, found in the place of `before` and begun anew, continues that run.

    It does when its rows follow those of `before` with no longer a gap than `before` was long, or begin within them
    and repeat their numbers (a file that keeps its newest rows only).
    """
    shared = _by_name(before).keys() & _by_name(after).keys()
    if before.clock == "rows" or before.clock != after.clock or not shared:
        return False
    for one, other in ((before.framework, after.framework), (before.algorithm, after.algorithm)):
        if one != other and one and other:  # a first row may not show yet what trains
            return False
    old, new = begin_of(before), begin_of(after)
    if new > before.last_step:
        return new - before.last_step <= before.last_step - old
    return new > old and _repeats(before, after)


def joined(before: RunLog, after: RunLog) -> RunLog:
    """Return the log of both together; where they overlap, `after` counts."""
    begin = begin_of(after)
    ends = max((float(s.step[s.step < begin][-1]) for s in before.series if np.any(s.step < begin)), default=begin)
    later = {name: _moved(series, begin, ends) for name, series in _by_name(after).items()}
    series = [_followed(series, later.pop(name, None), begin) for name, series in _by_name(before).items()]
    series += later.values()
    unmapped: dict[str, Curve] = {key: _until(curve, begin) for key, curve in before.unmapped.items()}
    for key, curve in after.unmapped.items():
        unmapped[key] = _both(unmapped[key], curve) if key in unmapped else curve
    curves = [*(item.curve for item in series), *unmapped.values()]
    return replace(
        after,
        series=tuple(series),
        unmapped=unmapped,
        framework=after.framework or before.framework,
        algorithm=after.algorithm or before.algorithm,
        guesses={**before.guesses, **after.guesses},
        config={**before.config, **after.config},
        clocks=tie(after.clock, series, curves, _first_moment(curves)),
        phases=(*before.phases, *(phase for phase in after.phases if phase not in before.phases)),
        events=tuple(dict.fromkeys([*(event for event in before.events if event.at < begin), *after.events])),
        samples=tuple(dict.fromkeys([*before.samples, *after.samples])),
    )


def _by_name(log: RunLog) -> dict[Name, Series]:
    return {(series.metric, series.scope): series for series in log.series if len(series)}


def begin_of(log: RunLog) -> float:
    """Return the step of the first row; single points (summaries) do not count where there is more."""
    own = [series.step for series in log.series if MOVED not in series.note and len(series)]
    steps = own or [series.step[1:] for series in log.series if len(series) > 1]
    long = [step for step in steps if step.size > 1] or steps
    return min((float(step[0]) for step in long), default=float("nan"))


def _moved(series: Series, begin: float, ends: float) -> Series:
    """Put what the first row told of the update before to where that update is: the last row of the part before."""
    if MOVED not in series.note:
        return series
    curve = series.curve
    return replace(series, curve=Curve(np.where(curve.step < begin, ends, curve.step), curve.value, curve.wall))


def _repeats(before: RunLog, after: RunLog) -> bool:
    """Whether both hold the same numbers at the steps that both have, and one number at least that varies."""
    later: Mapping[Name, Series] = _by_name(after)
    varied = False
    for name, series in _by_name(before).items():
        other = later.get(name)
        if other is None or series.metric.startswith(PASSING):
            continue
        _, i, j = np.intersect1d(series.step, other.step, return_indices=True)
        if not np.array_equal(series.value[i], other.value[j], equal_nan=True):
            return False
        varied |= i.size > 1 and bool(np.any(series.value[i] != series.value[i[0]]))
    return varied


def _followed(before: Series, after: Series | None, begin: float) -> Series:
    if after is None:
        return replace(before, curve=_until(before.curve, begin))
    curve = _both(_until(before.curve, begin), after.curve)
    return replace(after, curve=curve, proven=max(before.proven, after.proven))


def _until(curve: Curve, step: float) -> Curve:
    keep = curve.step < step
    return Curve(curve.step[keep], curve.value[keep], None if curve.wall is None else curve.wall[keep])


def _both(first: Curve, second: Curve) -> Curve:
    wall: Floats | None = None
    if first.wall is not None and second.wall is not None:
        wall = np.concatenate([first.wall, second.wall])
    return Curve(np.concatenate([first.step, second.step]), np.concatenate([first.value, second.value]), wall)


def _first_moment(curves: list[Curve]) -> float:
    """Return the earliest wall time of any point, NaN where there is none."""
    walls = [curve.wall for curve in curves if curve.wall is not None and np.isfinite(curve.wall).any()]
    return min((float(np.nanmin(wall)) for wall in walls), default=float("nan"))
