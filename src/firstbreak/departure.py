"""A run held against healthy runs of the same task: which metrics leave what those show, and which left first.

Each metric of a run is put on a grid of places of equal length, at most one for each point that the healthy runs have,
and stands in each place for its median there. The band of a place is the healthy runs' median plus and minus a width:
their mean distance from it (pooled over neighbouring places, and at least a small share of how far the metric moves in
a healthy run) times the least factor that keeps each healthy run within the band of the others, times `FACTOR`. So the
band says by itself how far healthy runs lie apart, whatever the metric's unit or distribution. The grid is laid over
the healthy runs, never over the run in question: a run that is still going is judged as it will be later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .finding import LOOP, Detection, Link, Onset, Severity, Skip
from .runlog import Against, Departure, RunLog
from .series import Confidence, Floats, Scope, Series
from .stats import median, quantile
from .view import RunView
from .vocabulary import config_keys, metrics

LEAST_RUNS = 3
"""Healthy runs below which their spread says nothing: of two, each is all that the other is held against."""
LEAST_METRICS = 3
"""Metrics that must have left: a fault moves many, chance few. Of the development half of the fault benchmark (1,369
runs, five healthy runs each) 2 of 82 healthy runs and 274 of 333 faulty ones have as many."""
FACTOR = 3.0
"""How much wider a band is than the healthy runs need: a handful does not show the whole range. Calibrated with
LEAST_METRICS; at 2 there are 5 healthy runs and 284 faulty ones."""
LEAST_WIDTH = 3.0
"""Least half width of a band in mean distances: three of them hold 98 % of Gaussian values. Engineering default."""
PLACES = 60
"""Places of the grid at most; as fine as 1.7 % of a run. Engineering default."""
LEAST_PLACES = 4
"""Points below which a metric is not compared."""
STAY = 2
"""Places on end outside the band before a metric has left it."""
POOLED = 2
"""Neighbouring places on either side whose distances are pooled."""
RANGE = 0.02
"""Least spread as a share of how far healthy runs move (5 % to 95 %). Engineering default: runs that all end at the
best possible return lie closer together than chance allows the next one."""
SIZE = 0.01
"""Least spread as a share of the metric's median size. Engineering default."""
EXTREMES = ("_max", "_min", "/max", "/min", "kurtosis")
"""Endings of metrics that are the extreme of a batch: a few runs say nothing of how far extremes scatter."""
OWN = ("seed",)
"""Settings that every run has for itself."""

TABLE = 4
"""Times as many cells as values that `medians_of` lays out at most. Engineering default."""

Key = tuple[str, Scope]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Band:
    """What healthy runs show of one metric: their `levels` [k, places] on places that end at `edges` [places]."""

    levels: Floats
    edges: Floats

    @cached_property
    def floor(self) -> float:
        """The least spread."""
        known = self.levels[np.isfinite(self.levels)]
        moves = quantile(known, 0.95) - quantile(known, 0.05)
        return max(RANGE * moves, SIZE * median(np.abs(known)), 1e-12)

    @cached_property
    def middle(self) -> Floats:
        """The median [places]; NaN where fewer than three runs are known."""
        return _middle(self.levels)

    @cached_property
    def half(self) -> Floats:
        """Half the band's width [places]."""
        peaks = [LEAST_WIDTH]
        for index in range(len(self.levels)):
            others = np.delete(self.levels, index, axis=0)
            far = sustained(np.abs(self.levels[index] - _middle(others)) / self._spread(others))
            peaks.extend(far[np.isfinite(far)].tolist())
        return FACTOR * max(peaks) * self._spread(self.levels)

    def _spread(self, levels: Floats) -> Floats:
        """Mean distance [places] of `levels` [k, places] from their median, over each place and its neighbours."""
        off = np.abs(levels - _middle(levels))
        padded = np.pad(off, ((0, 0), (POOLED, POOLED)), constant_values=np.nan)
        near = np.lib.stride_tricks.sliding_window_view(padded, 2 * POOLED + 1, axis=1)
        known = np.isfinite(near)
        count = known.sum(axis=(0, 2))
        total = np.where(known, near, 0.0).sum(axis=(0, 2))
        return np.maximum(np.where(count > 0, total / np.maximum(count, 1), np.nan), self.floor)


class Bands:
    """The bands of sets of healthy runs, each worked out once: many runs are held against the same few."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], tuple[Sequence[RunLog], dict[Key, Band]]] = {}

    def of(self, healthy: Sequence[RunLog]) -> dict[Key, Band]:
        """Return the bands of these very `healthy` runs; they are kept, so that no other can have their identity."""
        key = tuple(map(id, healthy))
        if key not in self._known:
            self._known[key] = healthy, bands_of(healthy)
        return self._known[key][1]


def against(log: RunLog, siblings: Sequence[RunLog], known: Bands | None = None) -> RunLog:
    """Return `log` with `against` set: which of its metrics left what `siblings`, healthy runs of its task, show.

    Only siblings on the run's own clock count, and only what they all log. Nothing is compared with fewer than three.
    `known` holds the bands of siblings that other runs were held against.
    """
    healthy = [s for s in siblings if s.clock == log.clock and s.last_step > 0]
    if len(healthy) < LEAST_RUNS:
        return replace(log, against=Against(len(healthy), 0))
    bands = (known or Bands()).of(healthy)
    found: list[Departure] = []
    for (metric, scope), band in bands.items():
        series = log.get(metric, scope)
        departure = _departure(series, band) if series is not None else None
        if departure is not None:
            found.append(departure)
    found.sort(key=lambda d: (d.lo, LOOP.index(Link(d.link)), -d.size, d.metric))
    compared = sum(log.get(*key) is not None for key in bands)
    return replace(log, against=Against(len(healthy), compared, tuple(found), _settings(log, healthy)))


def bands_of(healthy: Sequence[RunLog]) -> dict[Key, Band]:
    """Return the band of each metric that all `healthy` runs log and that can leave one."""
    end = median(np.array([s.last_step for s in healthy]))
    found: dict[Key, Band] = {}
    for metric, scope in sorted({(s.metric, s.scope) for s in healthy[0].series if _comparable(s)}):
        rows = [series for log in healthy if (series := log.get(metric, scope)) is not None]
        places = min(PLACES, *(np.unique(series.step[series.step <= end]).size for series in rows))
        if len(rows) < len(healthy) or places < LEAST_PLACES:
            continue
        edges = end * np.arange(1, places + 1) / places
        levels = np.stack([levels_of(series, edges) for series in rows])
        if np.isfinite(levels).all(axis=0).any():
            found[metric, scope] = Band(levels, edges)
    return found


def levels_of(series: Series, edges: Floats) -> Floats:
    """Return the median [places] of the values in each place that ends at `edges` [places].

    A place between two points holds the level before it, as a reader of the log would see; NaN before the first point
    and after the last. Values that are not finite count as infinite.
    """
    found = np.full(edges.size, np.nan)
    value = np.where(np.isfinite(series.value), series.value, np.inf)
    inside = series.step <= edges[-1]
    step, value = series.step[inside], value[inside]
    if step.size == 0:
        return found
    place = np.searchsorted(edges, step, side="left")  # steps rise, so each place is a stretch of them
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    held = place[starts]
    levels = medians_of(value, starts)
    found[held[0] : held[-1] + 1] = np.repeat(levels, np.diff(held, append=held[-1] + 1))
    return found


def medians_of(value: Floats, starts: Indices) -> Floats:
    """Return the median [k] of each stretch of `value` [n]; they begin at `starts` [k], the first at 0. No NaN in them.

    All at once, in a table with one row a stretch, where that is not much larger than the values themselves.
    """
    sizes = np.diff(starts, append=value.size)
    width = int(sizes.max())
    if width == 1:
        return value + 0.0
    if width * sizes.size > TABLE * value.size:
        return np.array([median(part) for part in np.split(value, starts[1:])])
    table = np.full((sizes.size, width), np.nan)
    table[np.arange(width) < sizes[:, None]] = value
    table.sort(axis=1)  # what is filled up sorts last
    row, half = np.arange(sizes.size), sizes // 2
    with np.errstate(over="ignore"):  # as `median`: half of a sum that is too large is infinite
        between = (table[row, half - 1] + table[row, half]) / 2
    return np.where(sizes % 2, table[row, half], between) + 0.0


def sustained(far: Floats) -> Floats:
    """Return for each place [places] the least of `far` over it and the next; NaN where one is not known."""
    after = np.append(far[1:], np.nan)
    return np.where(np.isnan(far) | np.isnan(after), np.nan, np.minimum(far, after))


def leaders(found: Against, hi: float = float("inf")) -> tuple[Departure, ...]:
    """Return what left first, and what left within the same place, outermost link first; none before it is sure.

    Order is not claimed within a place: of what left together the link further out in the loop comes first, since what
    it feeds follows it at once.
    """
    known = [d for d in found.departures if d.known <= hi]
    if len(known) < LEAST_METRICS:
        return ()
    first = min(known, key=lambda d: d.lo)
    together = [d for d in known if d.lo <= first.hi]
    return tuple(sorted(together, key=lambda d: (LOOP.index(Link(d.link)), -d.size, d.metric)))


def departs(view: RunView, link: Link) -> Detection | Skip | None:
    """Answer for the rule of `link`: whether what left first, and furthest out, is of this link.

    A run with settings that no healthy run has is expected to differ: that is a note.
    """
    found = view.log.against
    if found is None:
        return Skip("does not apply: no healthy runs given (--baseline)")
    if not found.compared:
        return Skip(f"does not apply: needs {LEAST_RUNS} healthy runs on the clock of this one, has {found.runs}")
    first = leaders(found, view.hi)
    if not first or first[0].link != link:
        return None
    best, left = first[0], sum(d.known <= view.hi for d in found.departures)
    told = {"left_with_it": ", ".join(d.metric for d in first[1:]), "own_settings": ", ".join(found.settings)}
    return Detection(
        message=f"{best.metric} is {best.value:.3g}; {found.runs} healthy runs show {best.low:.3g} to {best.high:.3g}",
        onset=Onset(best.lo, best.hi, view.clock),
        metric=best.metric,
        evidence={
            "value": best.value,
            "healthy_low": best.low,
            "healthy_high": best.high,
            "healthy_runs": found.runs,
            "metrics_left": left,
            "metrics_compared": found.compared,
            **{name: text for name, text in told.items() if text},
        },
        severity=Severity.INFO if found.settings else None,
    )


def _comparable(series: Series) -> bool:
    """Whether a metric can leave a band: it is known for what it is, no extreme, and does not time the machine."""
    spec = metrics().get(series.metric)
    if spec is None or spec.link == Link.SYSTEM_RESOURCES or series.confidence is Confidence.GUESS:
        return False
    return not series.metric.endswith(EXTREMES) and not series.scope.rank


def _departure(series: Series, band: Band) -> Departure | None:
    """Return where `series` leaves `band` for good measure: `STAY` places on end; None where it never does."""
    level = levels_of(series, band.edges)
    with np.errstate(invalid="ignore"):
        off = np.abs(level - band.middle) / band.half
    out = np.flatnonzero(sustained(off) > 1)
    if out.size == 0:
        return None
    at = int(out[0])
    lo = float(band.edges[at - 1]) if at else float(series.step[0])
    spec = metrics()[series.metric]
    return Departure(
        metric=series.metric,
        scope=series.scope,
        link=spec.link,
        lo=lo,
        hi=float(band.edges[at]),
        known=float(band.edges[min(at + STAY - 1, band.edges.size - 1)]),
        value=float(level[at]),
        low=max(spec.lo, float(band.middle[at] - band.half[at])),
        high=min(spec.hi, float(band.middle[at] + band.half[at])),
        size=float(np.nanmax(off)),
    )


def _middle(levels: Floats) -> Floats:
    """Return the median [places] of `levels` [k, places]; NaN where one is not finite."""
    with np.errstate(invalid="ignore"):
        middle = np.median(levels, axis=0)
    return np.where(np.isfinite(levels).all(axis=0), middle, np.nan)


def _settings(log: RunLog, healthy: Sequence[RunLog]) -> tuple[str, ...]:
    """Return the canonical settings of `log` that no healthy run has, as `key value`, sorted."""
    theirs: Mapping[str, list[str]] = {key: [str(s.config.get(key)) for s in healthy] for key in config_keys()}
    mine = {key: str(log.config[key]) for key in theirs if log.config.get(key) is not None}
    return tuple(f"{key} {mine[key]}" for key in sorted(mine) if key not in OWN and mine[key] not in theirs[key])
