"""The measured first metric: which one left, first of all, the band in which healthy twins keep it.

A twin is a healthy run of the same subject and task. Each metric of a run is put on a grid of shares of the run. The
band at a place is the twins' median there plus and minus `width` times a spread; the spread is the twins' median
distance from their median, pooled over neighbouring places, and at least a small share of the metric's own size. The
width is the least at which no twin, judged by the band of the others, leaves its band for `STAY` places on end, times
`SLACK`. So the band says by itself how much twins differ, whatever the metric's unit or distribution.

Places and their medians keep chance out, where there is chance. What no twin ever shows needs neither: another value of
a metric that has one value in every row of every twin, or one that is not finite where theirs are. What happens in one
row alone (weights changed from outside, a row that cannot be) would be lost in a median otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from firstbreak.stats.robust import median

Floats = NDArray[np.float64]
PLACES = 60
"""Grid of a run. Engineering default: a place is 1.7 % of the run, below the tolerance of the onset."""
STAY = 2
"""Places on end outside the band before a metric has left it."""
SLACK = 1.5
"""How much wider than the twins need. Engineering default: a handful of twins does not show the whole range."""
POOLED = 2
"""Neighbouring places on either side whose deviations are pooled."""
LEAST_TWINS = 3
FLOOR = 1e-3
"""Least spread as a share of the median size of the metric. Engineering default: below are rounding and float32."""
REST = 1e-6
"""Share of its size within which a metric has one value: rounding of float32."""
TOGETHER = 0.02
"""Share of the run within which metrics that leave count as leaving together; at least one row."""

Curves = Mapping[str, tuple[Floats, Floats]]
"""Canonical metric -> (steps [n], values [n])."""


@dataclass(frozen=True)
class Left:
    """The metrics that left first (together), and where."""

    metrics: tuple[str, ...]
    at: float
    later: int = 0
    """Metrics that left afterwards."""


def on_grid(step: Floats, value: Floats, end: float) -> Floats:
    """Return the medians [PLACES] of the values in each place; NaN where a place holds none before the next is known.

    Places between two points hold the earlier one, as a reader of the log would see; values not finite count as
    infinite, since no healthy twin has them.
    """
    grid = np.full(PLACES, np.nan)
    if step.size == 0 or end <= 0:
        return grid
    place = np.clip((step / end * PLACES).astype(int), 0, PLACES - 1)
    order = np.argsort(place, kind="stable")
    place, filled = place[order], np.where(np.isfinite(value), value, np.inf)[order]
    edges = [0, *(np.flatnonzero(np.diff(place)) + 1).tolist(), place.size]
    held = place[edges[:-1]]
    levels = np.array([median(filled[start:stop]) for start, stop in pairwise(edges)])
    grid[held[0] : held[-1] + 1] = np.repeat(levels, np.diff(held, append=held[-1] + 1))
    return grid


def column_medians(rows: Floats) -> Floats:
    """Return the median of each column of `rows` [k, n] without its NaN; NaN where it holds nothing else."""
    known = np.count_nonzero(~np.isnan(rows), axis=0)
    ordered, column = np.sort(rows, axis=0), np.arange(rows.shape[1])  # NaN sorts last
    middle = (ordered[(known - 1) // 2, column] + ordered[known // 2, column]) / 2
    return np.where(known > 0, middle, np.nan)


@dataclass(frozen=True)
class Usual:
    """What twins show: their `middle` [PLACES] and how far apart they lie, `spread` [PLACES]; NaN if unknown."""

    middle: Floats
    spread: Floats


def usual_of(twins: Floats) -> Usual:
    """Return the median of `twins` [k, PLACES] and their spread, pooled over neighbouring places."""
    with np.errstate(all="ignore"):
        middle = column_medians(twins)
        spread = pooled(np.abs(twins - middle))
        known = np.isfinite(middle)
        size = median(np.abs(middle[known])) if known.any() else np.nan
        return Usual(middle, np.maximum(spread, FLOOR * size + 1e-12))


def pooled(off: Floats) -> Floats:
    """Return the mean [PLACES] of what is finite of `off` [k, PLACES] in each place and its neighbours; NaN if nothing.

    Inner places without gaps are averaged all at once.
    """
    spread = np.full(PLACES, np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(off, 2 * POOLED + 1, axis=1).transpose(1, 0, 2)
    rows = windows.reshape(len(windows), -1)  # [PLACES - 2 * POOLED, k * (2 * POOLED + 1)]
    whole = np.zeros(PLACES, dtype=bool)
    whole[POOLED : PLACES - POOLED] = np.isfinite(rows).all(axis=1)
    spread[whole] = rows[whole[POOLED : PLACES - POOLED]].mean(axis=1)
    for at in np.flatnonzero(~whole):
        near = off[:, max(0, at - POOLED) : at + POOLED + 1]
        near = near[np.isfinite(near)]
        spread[at] = np.mean(near) if near.size else np.nan
    return spread


def deviations(grid: Floats, usual: Usual) -> Floats:
    """Return how far `grid` [PLACES] lies from what is usual, in spreads; NaN if unknown."""
    with np.errstate(all="ignore"):
        far = np.abs(grid - usual.middle) / usual.spread
    return np.where(np.isinf(grid) & ~np.isinf(usual.middle), np.inf, far)


def sustained(far: Floats) -> Floats:
    """Return for each place [PLACES] the least deviation over it and the `STAY` - 1 places after; NaN if unknown."""
    stack = np.stack([np.roll(far, -shift) for shift in range(STAY)])
    stack[:, PLACES - STAY + 1 :] = np.where(np.isinf(far[PLACES - STAY + 1 :]), np.inf, np.nan)
    return np.where(np.isnan(stack).any(axis=0), np.nan, stack.min(axis=0))


def width_of(twins: Floats) -> float:
    """Return the width of the band: the least at which no twin leaves that of the others, times `SLACK`."""
    peaks: list[float] = []
    for place in range(len(twins)):
        far = sustained(deviations(twins[place], usual_of(np.delete(twins, place, axis=0))))
        finite = far[np.isfinite(far)]
        peaks.append(float(finite.max()) if finite.size else 0.0)
    return SLACK * max(peaks)


@dataclass(frozen=True)
class Band:
    """The band of one metric: the twins' grids [k, PLACES] and its width."""

    twins: Floats
    width: float
    end: float
    """Where a run of this task ends: a run that died is held against the rows that twins had come to by then."""
    finite: bool = False
    """Whether every point of every twin is."""
    still: float = np.nan
    """The value that every point of every twin has; NaN where they move."""

    @cached_property
    def usual(self) -> Usual:
        """What all twins together show."""
        return usual_of(self.twins)

    def never(self, value: Floats) -> NDArray[np.bool_]:
        """Return which of the points `value` [n] are what no twin ever shows."""
        apart = self.finite & ~np.isfinite(value)
        return apart if np.isnan(self.still) else apart | (np.abs(value - self.still) > FLOOR * abs(self.still))


def band_of(curves: Sequence[tuple[Floats, Floats]], ends: Sequence[float]) -> Band | None:
    """Return the band of one metric of which each twin has a curve; None where no twin shows a finite value."""
    grids = np.stack([on_grid(*curve, end) for curve, end in zip(curves, ends, strict=True)])
    if not np.isfinite(grids).any():
        return None
    shown = np.concatenate([value for _, value in curves])
    finite = bool(np.isfinite(shown).all())
    still = finite and float(np.ptp(shown)) <= REST * float(np.abs(shown).max())
    return Band(grids, width_of(grids), median(np.array(ends)), finite, median(shown) if still else np.nan)


def bands_of(twins: Sequence[tuple[Curves, float]]) -> dict[str, Band]:
    """Return the band of each metric that every twin logs; a twin is its curves and the end of its run."""
    if len(twins) < LEAST_TWINS:
        return {}
    shared = set.intersection(*(set(curves) for curves, _ in twins))
    found: dict[str, Band] = {}
    ends = [end for _, end in twins]
    for metric in sorted(shared):
        band = band_of([curves[metric] for curves, _ in twins], ends)
        if band is not None:
            found[metric] = band
    return found


def halves_of(twins: Sequence[tuple[Curves, float]]) -> tuple[dict[str, Band], dict[str, Band]] | None:
    """Return the bands of every other twin and of those between; None where a half is too few for a band."""
    return (bands_of(twins[0::2]), bands_of(twins[1::2])) if len(twins) >= 2 * LEAST_TWINS else None


def first_left(curves: Curves, bands: Mapping[str, Band], cadence: float, since: float = 0.0) -> Left | None:
    """Return which metrics left their bands first at or after `since`; None where none did or there is no band."""
    left: dict[str, float] = {}
    for metric, band in bands.items():
        if metric not in curves:
            continue
        at = leaving(*curves[metric], band, since)
        if at is not None:
            left[metric] = at
    if not left:
        return None
    first = min(left.values())
    end = max(band.end for band in bands.values())
    limit = first + max(TOGETHER * end, cadence)
    together = tuple(sorted(metric for metric, at in left.items() if at <= limit))
    return Left(together, first, len(left) - len(together))


def leaving(step: Floats, value: Floats, band: Band, since: float) -> float | None:
    """Return where a metric first left its band at or after `since`; None if it never did.

    That is the first point of what no twin ever shows, or the first in the first place from which it stays outside.
    """
    never = step[(step >= since) & band.never(value)]
    stays = staying_out(step, value, band, since)
    known = [*([float(never[0])] if never.size else []), *([stays] if stays is not None else [])]
    return min(known, default=None)


def staying_out(step: Floats, value: Floats, band: Band, since: float) -> float | None:
    """Return the position of the first point outside the band, in the first place from which it stays outside."""
    far = sustained(deviations(on_grid(step, value, band.end), band.usual))
    edges = (np.arange(PLACES) + 1) / PLACES * band.end
    outside = np.flatnonzero((far > band.width) & (edges > since))
    if outside.size == 0:
        return None
    place = int(outside[0])
    lo = max(since, place / PLACES * band.end)
    inside = step[(step >= lo) & (step <= edges[place])]
    return float(inside[0]) if inside.size else lo
