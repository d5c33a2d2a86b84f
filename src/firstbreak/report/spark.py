"""One line of plot: a metric in as many characters as there is room, its onset marked below."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..diagnosis import Diagnosis
from ..finding import Onset
from ..runlog import RunLog
from ..series import Floats, Series
from .words import leading, number

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII_BLOCKS = "_.,-=+*#"
WIDE = 1000.0
"""Positive metrics whose largest value exceeds the smallest by this factor are drawn in the logarithm."""
BRIDGED = 2.0
"""Gaps up to this many logging intervals are drawn through."""
PERFORMANCE = (
    "reward/episode_return_mean",
    "reward/episode_return",
    "reward/train_mean",
    "reward/eval_return_mean",
    "reward/raw_episode_return",
    "optim/loss_total",
)
"""What to draw when nothing is wrong, first found first."""


@dataclass(frozen=True)
class Spark:
    """A drawn line: `marks`, below it the `pointer` to the onset (`` if none), and `caption` with the range."""

    marks: str
    pointer: str
    caption: str


def shown_metric(diagnosis: Diagnosis) -> tuple[Series, Onset | None] | None:
    """Return the series worth one line: that of the first break, else of the worst finding, else the performance."""
    first = diagnosis.first_break
    if first is not None:
        series = diagnosis.log.get(first.metric, first.scope) or diagnosis.log.get(first.metric)
        if series is not None and len(series):
            return series, first.onset
    finding = leading(diagnosis)
    if finding is not None:
        series = diagnosis.log.get(finding.metric, finding.scope) or diagnosis.log.get(finding.metric)
        if series is not None and len(series):
            return series, finding.onset
    return _performance(diagnosis.log)


def _performance(log: RunLog) -> tuple[Series, None] | None:
    for metric in PERFORMANCE:
        series = log.get(metric)
        if series is not None and len(series) > 1:
            return series, None
    return None


def logarithmic(values: Floats) -> bool:
    """Whether finite `values` [n] are all positive and span so much that only a logarithmic scale shows them."""
    return bool(values.size and values.min() > 0 and values.max() > WIDE * values.min())


def spark(series: Series, onset: Onset | None, width: int, *, ascii_only: bool = False) -> Spark:
    """Draw `series` in `width` characters; NaN and infinity show as `x`, stretches without points as blanks."""
    finite = np.isfinite(series.value)
    values = series.value[finite]
    log_scale = logarithmic(values)
    scaled = np.log(values) if log_scale else values
    low, high = (float(scaled.min()), float(scaled.max())) if scaled.size else (0.0, 0.0)
    start, end = float(series.step[0]), float(series.step[-1])
    cells = _cells(series.step, start, end, width)
    levels = ASCII_BLOCKS if ascii_only else BLOCKS
    middle = float(np.median(scaled)) if scaled.size else 0.0
    marks: list[str] = []
    of_finite = cells[finite]
    for cell in range(width):
        if not finite[cells == cell].all():
            marks.append("x")
            continue
        here = scaled[of_finite == cell]
        if not here.size:
            marks.append(" ")
            continue
        extreme = float(here[int(np.argmax(np.abs(here - middle)))])
        marks.append(levels[_level(extreme, low, high, len(levels))])
    caption = f"{number(float(values.min()))} to {number(float(values.max()))}" if values.size else "no finite value"
    if log_scale:
        caption += ", log scale"
    _bridge(marks, series.step, width, end - start)
    return Spark("".join(marks), _pointer(onset, start, end, width), caption)


def _bridge(marks: list[str], step: Floats, width: int, extent: float) -> None:
    """Carry a mark over the blanks that only the logging cadence leaves; longer gaps stay blank."""
    if step.size < 2 or extent <= 0:
        return
    reach = int(np.ceil(BRIDGED * float(np.median(np.diff(step))) / extent * width))
    since = width
    for cell, mark in enumerate(marks):
        since = 0 if mark != " " else since + 1
        if mark == " " and since < reach and marks[cell - 1] != "x":
            marks[cell] = marks[cell - 1]


def _cells(step: Floats, start: float, end: float, width: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return the character cell [n] of every position."""
    if end <= start:
        return np.zeros(step.size, dtype=np.intp)
    return np.minimum(((step - start) / (end - start) * width).astype(np.intp), width - 1)


def _level(value: float, low: float, high: float, levels: int) -> int:
    if high <= low:
        return 0
    return min(max(int((value - low) / (high - low) * levels), 0), levels - 1)


def _pointer(onset: Onset | None, start: float, end: float, width: int) -> str:
    if onset is None or end <= start:
        return ""
    left, right = _cells(np.array([onset.lo, onset.hi]).clip(start, end), start, end, width)
    return " " * int(left) + "^" * int(right - left + 1) + " onset"
