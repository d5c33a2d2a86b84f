"""Compares a run with its twin: where each metric first leaves the other's course, and which settings differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .finding import Onset
from .runlog import RunLog
from .series import Floats, Series
from .stats import first_run, mad, safe_log

NOISE_FACTOR = 5.0
"""A difference counts beyond five times the runs' own point-to-point noise. Engineering default."""
PERSIST = 3
"""Consecutive points that must differ. Engineering default."""
DECADES = 3.0
"""Metrics spanning more decades than this are compared in the logarithm."""


@dataclass(frozen=True)
class Divergence:
    """A metric's first divergence: it left the twin's course inside `onset`; `exact` when both were bit-equal before.

    `a` and `b` are the two values at the onset, `size` their difference over the runs' noise.
    """

    metric: str
    onset: Onset
    a: float
    b: float
    size: float
    exact: bool


@dataclass(frozen=True)
class Comparison:
    """Two runs side by side: divergences in order of onset, metrics that stayed together, settings that differ."""

    a: RunLog
    b: RunLog
    divergences: tuple[Divergence, ...]
    together: tuple[str, ...]
    not_comparable: tuple[tuple[str, str], ...]
    """(metric, why)."""
    config: tuple[tuple[str, Any, Any], ...]
    """(key, value in a, value in b) for every key that differs; None where absent."""


def compare_runs(a: RunLog, b: RunLog) -> Comparison:
    """Compare two runs metric by metric on their common clock.

    Wall-clock metrics (`time/...`) come last: two machines never keep the same time.
    """
    divergences: list[Divergence] = []
    together: list[str] = []
    failed: list[tuple[str, str]] = []
    for series in a.series:
        other = b.get(series.metric, series.scope)
        name = f"{series.metric}[{series.scope}]" if str(series.scope) else series.metric
        if other is None:
            failed.append((name, "not in the second run"))
        elif a.clock != b.clock:
            failed.append((name, f"clocks differ ({a.clock}, {b.clock})"))
        else:
            answer = diverge(name, series, other, a.clock)
            if answer is None:
                together.append(name)
            elif isinstance(answer, str):
                failed.append((name, answer))
            else:
                divergences.append(answer)
    failed += [(s.metric, "not in the first run") for s in b.series if a.get(s.metric, s.scope) is None]
    return Comparison(
        a=a,
        b=b,
        divergences=tuple(sorted(divergences, key=lambda d: (d.metric.startswith("time/"), d.onset.hi, -d.size))),
        together=tuple(together),
        not_comparable=tuple(failed),
        config=config_differences(a.config, b.config),
    )


def diverge(name: str, a: Series, b: Series, clock: str) -> Divergence | str | None:
    """Return where `a` leaves `b`, None when it does not, or why they cannot be compared."""
    answer, lost = _diverge(name, a, b, clock), _lost(name, a, b, clock)
    if lost is None or (isinstance(answer, Divergence) and answer.onset.hi <= lost.onset.hi):
        return answer
    return lost


def _diverge(name: str, a: Series, b: Series, clock: str) -> Divergence | str | None:
    """Answer as `diverge` for the finite points."""
    step, x, y = aligned(a, b)
    if step.size < PERSIST + 1:
        return "fewer than 4 common points"
    same = x == y
    if same.all():
        return None
    index = int(np.argmin(same))
    # One or two equal values at the start are no common course: a count or a clipped value ties by chance.
    if index >= PERSIST:
        return _divergence(name, step, index, x, y, _noise(x, y), clock, exact=True)
    noise = _noise(x, y)
    u, v = (safe_log(x), safe_log(y)) if _wide(x, y) else (x, y)
    scale = _noise(u, v)
    index = first_run(np.abs(u - v) > NOISE_FACTOR * scale, PERSIST)
    if index is None:
        return None
    return _divergence(name, step, index, x, y, noise, clock, exact=False)


def _lost(name: str, a: Series, b: Series, clock: str) -> Divergence | None:
    """Return where one of the two is not finite any more while the other still is."""
    common, i, j = np.intersect1d(a.step, b.step, return_indices=True)
    x, y = a.value[i], b.value[j]
    index = first_run(np.isfinite(x) != np.isfinite(y), PERSIST)
    if index is None:
        return None
    return _divergence(name, common, index, x, y, 1.0, clock, exact=False)


def aligned(a: Series, b: Series) -> tuple[Floats, Floats, Floats]:
    """Return the common steps [n] and both series' finite values there; `b` is interpolated between its points.

    Points that share a step (episodes that end together) count as their mean.
    """
    step, x = _merged(a)
    other, y = _merged(b)
    if step.size == 0 or other.size == 0:
        return np.empty(0), np.empty(0), np.empty(0)
    inside = (step >= other[0]) & (step <= other[-1])
    step, x = step[inside], x[inside]
    return step, x, np.interp(step, other, y)


def _merged(series: Series) -> tuple[Floats, Floats]:
    """Return the distinct steps [n] of the finite points and the mean value at each."""
    finite = np.isfinite(series.value)
    step, place, counts = np.unique(series.step[finite], return_inverse=True, return_counts=True)
    if step.size == place.size:
        return series.step[finite], series.value[finite]
    return step, np.bincount(place, weights=series.value[finite]) / counts


def _noise(x: Floats, y: Floats) -> float:
    """Point-to-point noise of two series [n]: the MAD of the calmer one's first differences over the root of 2.

    The calmer one, since a broken run would hide behind its own noise; at least a twentieth of the other's, since a
    constant has none.
    """
    calm, wild = sorted((mad(np.diff(x)), mad(np.diff(y))))
    spread = max(calm, 0.05 * wild) / float(np.sqrt(2))
    scale = float(np.median(np.abs(np.concatenate([x, y]))))
    return max(spread, 1e-9 * scale, 1e-300)


def _wide(x: Floats, y: Floats) -> bool:
    low, high = float(min(x.min(), y.min())), float(max(x.max(), y.max()))
    return low > 0 and high / low > 10**DECADES


def _divergence(
    name: str, step: Floats, index: int, x: Floats, y: Floats, noise: float, clock: str, *, exact: bool
) -> Divergence:
    lo = float(step[max(index - 1, 0)])
    size = abs(float(x[index] - y[index])) / noise
    size = size if np.isfinite(size) else float("inf")
    return Divergence(name, Onset(lo, float(step[index]), clock), float(x[index]), float(y[index]), size, exact)


def config_differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[tuple[str, Any, Any], ...]:
    """Return (key, a's value, b's value) for every configuration key that differs, sorted by key."""
    keys = sorted(set(a) | set(b))
    return tuple((key, a.get(key), b.get(key)) for key in keys if a.get(key) != b.get(key))
