"""The plots of a release as SVG: seeds and their interval, performance profiles, evaluation curves. Numbers only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...evaluation.statistics.intervals import Interval
from ...evaluation.statistics.profiles import Profile
from ...release.evidence import Group, Run
from ...series import Floats
from ..clean import plain
from ..words import number

WIDTH, HEIGHT = 480, 240
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 12, 42
COLOURS = ("a", "b", "c", "d", "e", "f", "g", "h")
"""Classes of the style sheet, one a run; they repeat."""


@dataclass(frozen=True)
class Axes:
    """Maps values to the drawing."""

    x: tuple[float, float]
    y: tuple[float, float]
    height: int = HEIGHT

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point lies."""
        across = (x - self.x[0]) / ((self.x[1] - self.x[0]) or 1.0)
        up = (y - self.y[0]) / ((self.y[1] - self.y[0]) or 1.0)
        return LEFT + across * (WIDTH - LEFT - RIGHT), self.height - BOTTOM - up * (self.height - TOP - BOTTOM)

    def path(self, x: Floats, y: Floats) -> str:
        """Return the path through points."""
        return "M" + "L".join("{:.1f} {:.1f}".format(*self.at(float(a), float(b))) for a, b in zip(x, y, strict=True))


def ticks(lo: float, hi: float, wanted: int = 5) -> list[float]:
    """Return round numbers between two ends."""
    span = hi - lo
    if not (math.isfinite(span) and span > 0):
        return [lo]
    raw = span / wanted
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw)
    first = math.ceil(lo / step - 1e-9)
    return [float(i * step) for i in range(first, math.floor(hi / step + 1e-9) + 1)]


def _padded(values: Sequence[float], share: float = 0.05) -> tuple[float, float]:
    lo, hi = min(values), max(values)
    pad = share * (hi - lo) or 0.05 * abs(hi) or 1.0
    return lo - pad, hi + pad


def _svg(body: str, label: str, height: int = HEIGHT) -> Any:
    """Return the drawing; the label is escaped here, the body holds formatted numbers and escaped words only."""
    from markupsafe import Markup, escape

    head = f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(plain(label, 300))}">'
    return Markup(head + body + "</svg>")  # noqa: S704 - numbers formatted here, and escaped words


def _frame(axes: Axes, across: str, up: str, *, y_ticks: bool = True) -> str:
    parts = [f'<path class="frame" d="M{LEFT} {TOP}V{axes.height - BOTTOM}H{WIDTH - RIGHT}"/>']
    for value in ticks(*axes.x):
        x, _ = axes.at(value, axes.y[0])
        parts.append(f'<path class="grid" d="M{x:.1f} {TOP}V{axes.height - BOTTOM}"/>')
        parts.append(_text(x, axes.height - BOTTOM + 15, _tick(value), "middle"))
    for value in ticks(*axes.y) if y_ticks else ():
        _, y = axes.at(axes.x[0], value)
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(_text(LEFT - 6, y + 4, _tick(value), "end"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, axes.height - 6, across, "middle", "axis"))
    if up:
        middle = (TOP + axes.height - BOTTOM) / 2
        parts.append(f'<g transform="translate(13 {middle:.0f}) rotate(-90)">{_text(0, 0, up, "middle", "axis")}</g>')
    return "".join(parts)


def _tick(value: float) -> str:
    return number(0.0 if abs(value) < 1e-12 else value)


def _text(x: float, y: float, words: str, anchor: str, kind: str = "tick") -> str:
    from markupsafe import escape

    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(plain(words, 80))}</text>'


def seeds(group: Group) -> Any:
    """Return one row of points for the release and one for the baseline, with the interval of the release's IQM."""
    found = group.iqm if group.iqm is not None and math.isfinite(group.iqm.width) else None
    rows = [("release", group.scores, found)]
    if group.baseline:
        rows.append(("baseline", group.baseline, None))
    height = 60 + 52 * len(rows) + BOTTOM - 40
    ends = [v for _, values, _ in rows for v in values] + ([found.lo, found.hi] if found else [])
    axes = Axes(_padded(ends), (0.0, float(len(rows))), height)
    parts = [_frame(axes, group.metric, "", y_ticks=False)]
    for index, (name, values, span) in enumerate(rows):
        middle = len(rows) - index - 0.5
        _, y = axes.at(axes.x[0], middle)
        parts.append(_text(LEFT - 6, y + 4, name, "end"))
        if span is not None:
            parts.append(_whisker(axes, span, y))
        for value in values:
            x, _ = axes.at(value, middle)
            parts.append(f'<circle class="dot {name}" cx="{x:.1f}" cy="{y:.1f}" r="5"/>')
    return _svg("".join(parts), f"scores of {len(group.scores)} seeds", height)


def _whisker(axes: Axes, found: Interval, y: float) -> str:
    lo, hi, at = (axes.at(v, 0)[0] for v in (found.lo, found.hi, found.value))
    band = f'<rect class="interval" x="{lo:.1f}" y="{y - 12:.1f}" width="{max(hi - lo, 1):.1f}" height="24"/>'
    return f'{band}<path class="centre" d="M{at:.1f} {y - 14:.1f}v28"/>'


def profiles(group: Group) -> Any:
    """Return the share of runs above each score, with its band; the baseline's beside it."""
    assert group.profile is not None
    axes = Axes((float(group.profile.thresholds[0]), float(group.profile.thresholds[-1])), (0.0, 1.0))
    parts = [_frame(axes, f"score ({group.metric})", "share of runs above")]
    both: list[tuple[str, Profile | None]] = [("baseline", group.baseline_profile), ("release", group.profile)]
    for name, one in both:
        if one is not None:
            parts.append(_profile(axes, one, name))
    return _svg("".join(parts), "share of runs that score above each threshold")


def _profile(axes: Axes, one: Profile, name: str) -> str:
    band = ""
    if one.lo is not None and one.hi is not None:
        x = np.concatenate([one.thresholds, one.thresholds[::-1]])
        y = np.concatenate([one.hi, one.lo[::-1]])
        band = f'<path class="area {name}" d="{axes.path(x, y)}Z"/>'
    return band + f'<path class="line {name}" d="{axes.path(one.thresholds, one.share)}"/>'


def key(runs: Sequence[Run], group: Group) -> list[tuple[str, str]]:
    """Return the name and the colour of each curve; none when there are more curves than colours."""
    mine = _with_scores(runs, group)
    return [] if len(mine) > len(COLOURS) else list(zip((run.name for run in mine), COLOURS, strict=False))


def _with_scores(runs: Sequence[Run], group: Group) -> list[Run]:
    return [run for run in runs if run.name in group.runs and run.score.size]


def curves(runs: Sequence[Run], group: Group) -> Any:
    """Return the evaluations of every run of a group over its clock, the best one marked."""
    mine = _with_scores(runs, group)
    steps = [float(s) for run in mine for s in (run.step[0], run.step[-1])]
    values = [float(v) for run in mine for v in (run.score.min(), run.score.max())]
    axes = Axes((min(steps), max(steps) if max(steps) > min(steps) else min(steps) + 1), _padded(values))
    clock = {"env_steps": "environment steps", "rows": "rows"}.get(group.clock, group.clock)
    parts = [_frame(axes, clock, group.metric)]
    for index, run in enumerate(mine):
        colour = COLOURS[index % len(COLOURS)]
        top = run.top or 0
        x, y = axes.at(float(run.step[top]), float(run.score[top]))
        parts.append(f'<path class="line s-{colour}" d="{axes.path(run.step, run.score)}"/>')
        parts.append(f'<circle class="best s-{colour}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>')
        if run.crashed:
            x, y = axes.at(float(run.step[-1]), float(run.score[-1]))
            parts.append(_text(x, y - 6, "died", "middle"))
    return _svg("".join(parts), f"evaluations of {len(mine)} runs; the best of each is marked")
