"""Curves for the HTML face: every series thinned to what the screen can show, on one shared axis. Geometry only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..diagnosis import Diagnosis
from ..finding import LOOP, Finding
from ..series import WHOLE_RUN, Floats, Series
from ..vocabulary import metrics
from .spark import logarithmic
from .words import number

WIDTH, HEIGHT = 600, 110
"""Drawing units of one plot; the page stretches it to its column."""
BUCKETS = 240
"""Columns in which the smallest and largest value are kept; halved when a run has more than 40 series."""
MANY = 40
MOST = 120
"""Series drawn at most; those with findings come first."""
NARROWEST = 3.0
"""Least width of an onset band, so that a sharp onset stays visible."""


@dataclass(frozen=True)
class Band:
    """An onset interval over a plot."""

    x: str
    width: str
    severity: str
    label: str


@dataclass(frozen=True)
class Plot:
    """One series ready to be drawn: `path` and `bad` are SVG paths, `xs` and `ys` the numbers behind them."""

    metric: str
    scope: str
    source: str
    unit: str
    link: str
    meaning: str
    path: str
    bad: str
    xs: str
    ys: str
    log_able: bool
    log: bool
    low: str
    high: str
    last: str
    nonfinite: int
    bands: tuple[Band, ...]
    troubled: bool


def plots(diagnosis: Diagnosis) -> tuple[list[Plot], float, float]:
    """Return the plots of a run, those with findings first, and the two ends of the shared axis."""
    series = [s for s in diagnosis.log.series if len(s)]
    if not series:
        return [], 0.0, 0.0
    start = min(float(s.step[0]) for s in series)
    end = max(float(s.step[-1]) for s in series)
    active = [f for f in diagnosis.findings if not f.ignored and f.onset.clock == diagnosis.log.clock]
    ranked = sorted(series, key=lambda s: _rank(s, active))[:MOST]
    buckets = BUCKETS if len(ranked) <= MANY else BUCKETS // 2
    return [_plot(s, active, start, end, buckets) for s in ranked], start, end


def _about(series: Series, finding: Finding) -> bool:
    return finding.metric == series.metric and finding.scope in (series.scope, WHOLE_RUN)


def _rank(series: Series, active: Sequence[Finding]) -> tuple[int, float, int, str, str]:
    mine = [f for f in active if _about(series, f)]
    worst = max((f.severity.rank for f in mine), default=-1)
    onset = min((f.onset.middle for f in mine), default=0.0)
    spec = metrics().get(series.metric)
    order = next((i for i, link in enumerate(LOOP) if spec and link.value == spec.link), len(LOOP))
    return (-worst, onset, order, series.metric, str(series.scope))


def _plot(series: Series, active: Sequence[Finding], start: float, end: float, buckets: int) -> Plot:
    xs, ys = thin(series.step, series.value, start, end, buckets)
    finite = series.value[np.isfinite(series.value)]
    use_log = logarithmic(finite)
    spec = metrics().get(series.metric)
    mine = [f for f in active if _about(series, f)]
    path, bad = _paths(xs, ys, start, end, use_log=use_log)
    return Plot(
        metric=series.metric,
        scope=str(series.scope),
        source=series.source_key,
        unit=spec.unit if spec and spec.unit != "1" else "",
        link=spec.link if spec else "",
        meaning=spec.meaning if spec else "",
        path=path,
        bad=bad,
        xs=" ".join(_compact(x) for x in xs),
        ys=" ".join(_compact(y) for y in ys),
        log_able=bool(finite.size and finite.min() > 0 and finite.max() > finite.min()),
        log=use_log,
        low=number(float(finite.min())) if finite.size else "",
        high=number(float(finite.max())) if finite.size else "",
        last=number(float(series.value[-1])),
        nonfinite=int(series.value.size - finite.size),
        bands=tuple(_band(f, start, end) for f in mine),
        troubled=any(f.severity.rank for f in mine),
    )


def thin(step: Floats, value: Floats, start: float, end: float, buckets: int) -> tuple[Floats, Floats]:
    """Keep the smallest and largest finite value of each of `buckets` columns and one NaN where any was lost.

    Returns positions [m] and values [m] in order, m <= 3 * buckets (everything when that is fewer).
    """
    if step.size <= 2 * buckets or end <= start:
        return step, value
    column = np.minimum(((step - start) / (end - start) * buckets).astype(np.intp), buckets - 1)
    edges = np.flatnonzero(np.diff(column)) + 1
    keep: list[int] = []
    for lo, hi in zip(np.append(0, edges), np.append(edges, step.size), strict=True):
        part = value[lo:hi]
        finite = np.flatnonzero(np.isfinite(part))
        chosen = set[int]()
        if finite.size:
            chosen |= {int(finite[np.argmin(part[finite])]), int(finite[np.argmax(part[finite])])}
        if finite.size < part.size:
            chosen.add(int(np.flatnonzero(~np.isfinite(part))[0]))
        keep.extend(int(lo) + i for i in sorted(chosen))
    index = np.array(keep, dtype=np.intp)
    return step[index], value[index]


def _paths(xs: Floats, ys: Floats, start: float, end: float, *, use_log: bool) -> tuple[str, str]:
    """Return the line as an SVG path, broken where a value is not finite, and the marks of those values."""
    finite = np.isfinite(ys)
    px = (xs - start) / ((end - start) or 1.0) * WIDTH
    scaled = np.full(ys.size, np.nan)
    scaled[finite] = np.log(ys[finite]) if use_log else ys[finite]
    low, high = (float(np.nanmin(scaled)), float(np.nanmax(scaled))) if finite.any() else (0.0, 1.0)
    span = high - low
    py = HEIGHT - 4 - (scaled - low) / (span or 1.0) * (HEIGHT - 8) if span else np.full(ys.size, HEIGHT / 2)
    line: list[str] = []
    bad: list[str] = []
    pen = "M"
    for x, y, good in zip(px, py, finite, strict=True):
        if good:
            line.append(f"{pen}{x:.1f} {y:.1f}")
            pen = "L"
        else:
            bad.append(f"M{x:.1f} 0V{HEIGHT}")
            pen = "M"
    if len(line) == 1:
        line.append("h2")
    return "".join(line), "".join(bad)


def _band(finding: Finding, start: float, end: float) -> Band:
    span = (end - start) or 1.0
    left = (min(max(finding.onset.lo, start), end) - start) / span * WIDTH
    right = (min(max(finding.onset.hi, start), end) - start) / span * WIDTH
    width = max(right - left, NARROWEST)
    left = min(left, WIDTH - width)
    return Band(f"{left:.1f}", f"{width:.1f}", finding.severity.value, f"{finding.name}: {finding.message}")


def _compact(value: float) -> str:
    return f"{value:.6g}" if np.isfinite(value) else "nan" if np.isnan(value) else "inf" if value > 0 else "-inf"
