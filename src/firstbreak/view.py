"""`RunView`: an immutable prefix of a run, of bounded size, as rules see it.

A view holds for each series the first `HEAD` points, the last `TAIL` points and an evenly thinned middle of at most
`MIDDLE` points (single points, never means, so variance and spikes keep their size), together with exact extremes and
counts over the whole prefix. Live and post-mortem build the same view for the same prefix, so they agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .finding import Onset
from .runlog import RunLog
from .series import WHOLE_RUN, Confidence, Floats, Scope, Series, Tally

HEAD, MIDDLE, TAIL = 256, 512, 512
"""Point budget of a view per series. Engineering choice: 1,280 points keep 60 rules x 50 ticks under 2 s."""


@dataclass(frozen=True)
class Points:
    """A series inside a view. `step` and `value` [n] hold finite points only; counts and extremes cover all points.

    `total` counts every logged point of the prefix, `nonfinite` those that are NaN or inf, `first_nonfinite` is the
    position of the first such point (NaN if none). `max_at`/`min_at` are positions of the exact extremes.
    """

    metric: str
    step: Floats
    value: Floats
    total: int
    nonfinite: int
    first_nonfinite: float
    first_inf: float
    max: float
    max_at: float
    min: float
    min_at: float
    source: Series

    def __len__(self) -> int:
        return int(self.value.size)

    @property
    def last(self) -> float:
        """The newest finite value (NaN if none)."""
        return float(self.value[-1]) if self.value.size else float("nan")

    @property
    def first(self) -> float:
        """The oldest finite value (NaN if none)."""
        return float(self.value[0]) if self.value.size else float("nan")

    @property
    def cadence(self) -> float:
        """Median distance between neighbouring points at the end of the prefix, on the run's clock."""
        if self.step.size < 2:
            return 0.0
        return float(np.median(np.diff(self.step[-64:])))


def _thin(n: int) -> slice | np.ndarray[Any, np.dtype[np.intp]]:
    """Indices [m] of the points a view keeps out of `n`, m <= HEAD + MIDDLE + TAIL."""
    if n <= HEAD + MIDDLE + TAIL:
        return slice(0, n)
    middle = n - HEAD - TAIL
    stride = 1 << int(np.ceil(np.log2(middle / MIDDLE)))
    first = -(-HEAD // stride) * stride
    return np.concatenate([np.arange(HEAD), np.arange(first, n - TAIL, stride), np.arange(n - TAIL, n)])


class RunView:
    """The run up to and including position `hi` of its clock, from `lo` (the start of the phase) on.

    `at(scope)` gives the same view seen from one policy, agent or component: metrics logged under that scope come
    first, metrics of the whole run fill in.
    """

    def __init__(
        self,
        log: RunLog,
        hi: float = float("inf"),
        lo: float = float("-inf"),
        scope: Scope = WHOLE_RUN,
        *,
        parent: RunView | None = None,
    ) -> None:
        self.log = log
        self.hi = hi
        self.lo = lo
        self.scope = scope
        self._cache: dict[tuple[str, Scope], Points | None] = {} if parent is None else parent._cache

    def at(self, scope: Scope) -> RunView:
        """Return this view seen from `scope`; points already cut are shared."""
        return RunView(self.log, self.hi, self.lo, scope, parent=self)

    @property
    def algorithm(self) -> str:
        """Canonical algorithm name, `""` if unknown."""
        return self.log.algorithm

    @property
    def framework(self) -> str:
        """Framework id, `""` if unknown."""
        return self.log.framework

    @property
    def clock(self) -> str:
        """What positions count: updates, env_steps, seconds or rows."""
        return self.log.clock

    def config(self, key: str, default: Any = None) -> Any:
        """Return the configuration value of a canonical `key`, or `default`."""
        value = self.log.config.get(key)
        return default if value is None else value

    def number(self, key: str) -> float | None:
        """Return the configuration value of `key` as a finite float, or None."""
        value = self.config(key)
        if isinstance(value, bool) or value is None:
            return None
        try:
            number = float(value)
        except (TypeError, ValueError):
            return None
        return number if np.isfinite(number) else None

    def get(self, *metrics: str) -> Points | None:
        """Return the points of the first of `metrics` that has any, in this view's scope or the whole run."""
        for metric in metrics:
            for scope in (self.scope, WHOLE_RUN) if self.scope != WHOLE_RUN else (WHOLE_RUN,):
                points = self._points(metric, scope)
                if points is not None:
                    return points
        return None

    def family(self, metric: str) -> dict[str, Points]:
        """Return the points of every component of a family (`reward/component`), keyed by component name."""
        found: dict[str, Points] = {}
        for scope in self.log.scopes(metric):
            points = self._points(metric, scope)
            if points is not None and scope.component:
                found[scope.component] = points
        return found

    def ranks(self, metric: str) -> dict[str, Points]:
        """Return the points that each rank logged of `metric`, by rank; what stands for the whole run is rank 0."""
        found: dict[str, Points] = {}
        for scope in self.log.scopes(metric):
            if scope in (WHOLE_RUN, Scope(rank=scope.rank)) and (points := self._points(metric, scope)) is not None:
                found[scope.rank or "0"] = points
        return found

    def has(self, metric: str) -> bool:
        """Whether `metric` has at least one point, finite or not, in this view."""
        return self.get(metric) is not None

    def onset(self, lo: float, hi: float | None = None, p: float = 0.9) -> Onset:
        """Build an onset on this run's clock."""
        return Onset(float(lo), float(lo if hi is None else hi), self.clock, p)

    def trusted(self, points: Points) -> bool:
        """Whether the mapping of these points is more than a guess."""
        return points.source.confidence is not Confidence.GUESS

    def _points(self, metric: str, scope: Scope) -> Points | None:
        key = (metric, scope)
        if key not in self._cache:
            series = self.log.get(metric, scope)
            self._cache[key] = None if series is None else _cut(series, self.lo, self.hi)
        return self._cache[key]


def _cut(series: Series, lo: float, hi: float) -> Points | None:
    """Cut `series` to positions in [lo, hi] and thin it to the budget; None when nothing is there."""
    start = int(np.searchsorted(series.step, lo, side="left"))
    stop = int(np.searchsorted(series.step, hi, side="right"))
    if stop <= start:
        return None
    step, value = series.step[start:stop], series.value[start:stop]
    finite = np.isfinite(value)
    bad = int(value.size - np.count_nonzero(finite))
    nan = float("nan")
    first_bad = first_inf = nan
    if bad:
        first_bad = float(step[int(np.argmin(finite))])
        infinite = np.isinf(value)
        if infinite.any():
            first_inf = float(step[int(np.argmax(infinite))])
        step, value = step[finite], value[finite]
    top = low = top_at = low_at = nan
    if value.size:
        i, j = int(np.argmax(value)), int(np.argmin(value))
        top, top_at, low, low_at = float(value[i]), float(step[i]), float(value[j]), float(step[j])
    keep = _thin(value.size)
    tally = Tally(stop - start, bad, first_bad, first_inf, top, top_at, low, low_at)
    if series.whole is not None and stop - start == len(series):
        tally = series.whole
    return Points(series.metric, step[keep], value[keep], **vars(tally), source=series)
