"""`RunView`: an immutable prefix of a run, of bounded size, as rules see it.

A view holds for each series the first `HEAD` points, the last `TAIL` points and an evenly thinned middle of at most
`MIDDLE` points (single points, never means, so variance and spikes keep their size), together with exact extremes and
counts over the whole prefix. Live and post-mortem build the same view for the same prefix, so they agree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from .finding import Onset
from .runlog import RunLog
from .series import WHOLE_RUN, Confidence, Floats, Mask, Scope, Series, Tally

T = TypeVar("T")
HEAD, MIDDLE, TAIL = 256, 512, 512
"""Point budget of a view per series. Engineering choice: 1,280 points keep 60 rules x 50 ticks under 2 s."""

BUDGET = HEAD + MIDDLE + TAIL


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
    def opening(self) -> bool:
        """Whether these are the first finite points of their series, with none left out."""
        if self.source.whole is not None or not len(self) or len(self) < self.total - self.nonfinite:
            return False
        return self.step.item(0) == self.source.begins

    def once(self, ask: Callable[[Points], T]) -> T:
        """Return `ask(self)`, worked out once: many rules ask the same of one metric."""
        if ask not in self._known:
            self._known[ask] = ask(self)
        return self._known[ask]

    @cached_property
    def _known(self) -> dict[Callable[[Points], Any], Any]:
        return {}

    @cached_property
    def cadence(self) -> float:
        """Median distance between neighbouring points at the end of the prefix, on the run's clock."""
        if self.step.size < 2:
            return 0.0
        return float(np.median(np.diff(self.step[-64:])))


def _thin(n: int) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Indices [m] of the points a view keeps out of `n` > HEAD + MIDDLE + TAIL, which is at least m."""
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
        self._cuts: dict[Scope, _Cuts] = {} if parent is None else parent._cuts
        whole = self._of(WHOLE_RUN)
        self._seen = (whole,) if scope == WHOLE_RUN else (self._of(scope), whole)
        self._known: dict[Callable[[RunView], Any], Any] = {}

    def at(self, scope: Scope) -> RunView:
        """Return this view seen from `scope`; points already cut are shared."""
        if scope is self.scope or scope == self.scope:
            return self
        return RunView(self.log, self.hi, self.lo, scope, parent=self)

    def once(self, ask: Callable[[RunView], T]) -> T:
        """Return `ask(self)`, worked out once: several rules ask the same of one prefix."""
        if ask not in self._known:
            self._known[ask] = ask(self)
        return self._known[ask]

    @property
    def metrics(self) -> tuple[str, ...]:
        """What is logged in this view's scope or of the whole run, be it in this prefix or only later."""
        return tuple({metric: None for scope in (WHOLE_RUN, self.scope) for metric in self.log.under(scope)})

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
        """Return the points of the first of `metrics` with a finite value, in this view's scope or the whole run."""
        for metric in metrics:
            for cuts in self._seen:
                points = cuts[metric]
                if points is not None and len(points):
                    return points
        return None

    def logged(self, *metrics: str) -> Points | None:
        """Return the points of the first of `metrics` that has any, be they finite or not; otherwise as `get`."""
        for metric in metrics:
            for cuts in self._seen:
                points = cuts[metric]
                if points is not None:
                    return points
        return None

    def family(self, metric: str) -> dict[str, Points]:
        """Return the points of every component of a family (`reward/component`), keyed by component name."""
        found: dict[str, Points] = {}
        for scope in self.log.scopes(metric):
            if scope.component and (points := self._of(scope)[metric]) is not None:
                found[scope.component] = points
        return found

    def ranks(self, metric: str) -> dict[str, Points]:
        """Return the points that each rank logged of `metric`, by rank; what stands for the whole run is rank 0."""
        found: dict[str, Points] = {}
        for scope in self.log.scopes(metric):
            if scope in (WHOLE_RUN, Scope(rank=scope.rank)) and (points := self._of(scope)[metric]) is not None:
                found[scope.rank or "0"] = points
        return found

    def has(self, metric: str) -> bool:
        """Whether `metric` has at least one point, finite or not, in this view."""
        return self.logged(metric) is not None

    def onset(self, lo: float, hi: float | None = None, p: float = 0.9) -> Onset:
        """Build an onset on this run's clock."""
        return Onset(float(lo), float(lo if hi is None else hi), self.clock, p)

    def trusted(self, points: Points) -> bool:
        """Whether the mapping of these points is more than a guess."""
        return points.source.confidence is not Confidence.GUESS

    def _of(self, scope: Scope) -> _Cuts:
        if scope not in self._cuts:
            self._cuts[scope] = _Cuts(self.log, scope, self.lo, self.hi)
        return self._cuts[scope]


class _Cuts(dict[str, Points | None]):
    """The points of each metric in one scope of a view, cut when first asked for; None where there are none."""

    def __init__(self, log: RunLog, scope: Scope, lo: float, hi: float) -> None:
        self._series, self._lo, self._hi = log.under(scope), lo, hi

    def __missing__(self, metric: str) -> Points | None:
        series = self._series.get(metric)
        points = self[metric] = None if series is None else _cut(series, self._lo, self._hi)
        return points


def _cut(series: Series, lo: float, hi: float) -> Points | None:
    """Cut `series` to positions in [lo, hi] and thin it to the budget; None when nothing is there."""
    at = series.step
    start, stop = int(at.searchsorted(lo, "left")), int(at.searchsorted(hi, "right"))
    if stop <= start:
        return None
    step, value = at[start:stop], series.value[start:stop]
    tally, finite = series.whole if stop - start == len(series) else None, series.finite
    inside = None if finite is None else finite[start:stop]
    if tally is None:
        tally = _tally(step, value, inside)
    if tally.nonfinite and inside is not None:
        step, value = step[inside], value[inside]
    if value.size > BUDGET:
        keep = _thin(value.size)
        step, value = step[keep], value[keep]
    return Points(series.metric, step, value, *vars(tally).values(), source=series)


def _tally(step: Floats, value: Floats, finite: Mask | None) -> Tally:
    """Count the points [n] of a prefix and find its extremes; `finite` [n] is None where all are."""
    nan = float("nan")
    bad, first_bad, first_inf, total = 0, nan, nan, int(value.size)
    if finite is not None and not finite.all():
        bad = total - int(np.count_nonzero(finite))
        first_bad = float(step[int(finite.argmin())])
        infinite = np.isinf(value)
        if infinite.any():
            first_inf = float(step[int(infinite.argmax())])
        step, value = step[finite], value[finite]
    if not value.size:
        return Tally(total, bad, first_bad, first_inf, nan, nan, nan, nan)
    i, j = int(value.argmax()), int(value.argmin())
    return Tally(total, bad, first_bad, first_inf, value.item(i), step.item(i), value.item(j), step.item(j))
