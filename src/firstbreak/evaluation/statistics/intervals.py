"""Intervals for aggregates over seeds: which method holds for how many, and what each is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ...series import Floats
from .aggregates import IQM, Aggregate
from .runs import Scores, as_tasks, need_seeds
from .skew import skewed_ends
from .student import normal_cdf, t_quantile

Method = Literal["t", "skewed", "percentile", "expanded", "score"]
Chosen = Literal["t", "skewed", "percentile", "expanded"]
Resampled = Literal["t", "percentile", "expanded"]
Draws = Sequence[NDArray[np.int64]]
Value = Callable[[Sequence[Floats]], Floats]
ENOUGH = 20
"""Runs a task from which the stratified bootstrap of percentiles is used."""
REPS = 2000
"""Bootstrap samples, as in rliable's examples."""
NO_SPREAD = "all score exactly the same: no noise to measure; do the seeds do anything?"
CHUNK = 2_000_000
"""Numbers that are resampled at a time."""


@dataclass(frozen=True)
class Interval:
    """An estimate with its interval."""

    value: float
    lo: float
    hi: float
    level: float
    method: Method
    runs: int
    """Runs of the task that has the fewest."""

    remark: str = ""
    """Why the interval is refused: its ends are then infinite."""

    @property
    def refused(self) -> bool:
        """Whether nothing can be said about the uncertainty."""
        return bool(self.remark)

    @property
    def width(self) -> float:
        """How far apart the ends are."""
        return self.hi - self.lo

    def within(self, least: float, most: float) -> Interval:
        """Return it cut off where no value can lie: a t interval of a few runs knows no bounds, and loses nothing."""
        return self if self.refused else replace(self, lo=max(self.lo, least), hi=min(self.hi, most))

    def holds(self, value: float) -> bool:
        """Whether `value` lies inside."""
        return self.lo <= value <= self.hi


def interval(
    scores: Scores,
    aggregate: Aggregate = IQM,
    *,
    level: float = 0.95,
    method: Chosen | None = None,
    reps: int = REPS,
    seed: int = 0,
) -> Interval:
    """Return the aggregate of `scores` over runs and tasks with its interval.

    Below `ENOUGH` runs a task: t, the quantiles of Student's t around the stratified bootstrap's standard error. From
    there on: expanded, the bootstrap's percentiles widened for small samples (Hesterberg 2015, arXiv 1411.5279,
    section 5.3); for the mean and the gap, which no trimming keeps from skewed scores and outliers, skewed: Student's t
    bent to both (`skewed_ends`). `method="percentile"` is rliable's, which is too narrow for few runs.

    Args:
        scores: [runs], [runs, tasks], or one array of runs a task, named or not.
        aggregate: `IQM`, `MEAN` or `optimality_gap(target)`.
        level: Coverage asked for.
        method: Another method than the number of runs suggests.
        reps: Bootstrap samples.
        seed: Of the resampling; the same scores give the same interval.

    Raises:
        SingleSeedError: a task has a single run.
        InputError: scores are missing, NaN or infinite.
    """
    tasks = as_tasks(scores)
    runs = need_seeds(tasks)
    chosen = method or default_method(runs, trimmed=aggregate.trimmed)
    return resampled(tasks, aggregate.value, level=level, method=chosen, reps=reps, seed=seed)


def resampled(
    strata: Sequence[Floats], value: Value, *, level: float, method: Chosen, reps: int = REPS, seed: int = 0
) -> Interval:
    """Return the interval of any `value` of strata [runs]; refused where runs that differ in nothing give no spread."""
    runs = min(one.size for one in strata)
    centre = float(value(strata))
    if all(np.ptp(one) == 0 for one in strata):
        return Interval(centre, -np.inf, np.inf, level, method, runs, NO_SPREAD)
    lo, hi = ends([one[None] for one in strata], value, level=level, method=method, reps=reps, seed=seed)
    if hi[0] <= lo[0]:  # an optimality gap of 0 in every run, for instance
        return Interval(centre, -np.inf, np.inf, level, method, runs, NO_SPREAD)
    return Interval(centre, float(lo[0]), float(hi[0]), level, method, runs)


def default_method(runs: int, *, trimmed: bool = True) -> Chosen:
    """Return the method for so many runs a task; without `trimmed` the value is a sum of means over runs."""
    return "t" if runs < ENOUGH else "expanded" if trimmed else "skewed"


def ends(
    strata: Sequence[Floats], value: Value, *, level: float, method: Chosen, reps: int = REPS, seed: int = 0
) -> tuple[Floats, Floats]:
    """Return the ends [S] of the intervals of S data sets at once.

    Args:
        strata: One array [S, runs] a stratum; runs are resampled within it.
        value: Takes one array [..., runs] a stratum, returns [...].
        level: Coverage asked for.
        method: How they are made; skewed is for sums of means only, and nothing is resampled for it.
        reps: Bootstrap samples.
        seed: Of the resampling.
    """
    if not 0.0 < level < 1.0:
        raise InputError(f"Coverage {level:g} is not between 0 and 1.", "For example: 0.95")
    if method == "skewed":
        return skewed_ends(strata, value, (1.0 - level) / 2)
    draws = resampling([one.shape[-1] for one in strata], reps, seed)
    size = max(1, CHUNK // (reps * sum(one.shape[-1] for one in strata)))
    work = WORK[method]
    parts = [
        work([one[i : i + size] for one in strata], draws, value, (1.0 - level) / 2)
        for i in range(0, strata[0].shape[0], size)
    ]
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def resampling(runs: Sequence[int], reps: int, seed: int) -> list[NDArray[np.int64]]:
    """Return which runs each bootstrap sample takes, within each stratum [reps, runs]."""
    random = np.random.default_rng(seed)
    return [random.integers(n, size=(reps, n)) for n in runs]


def _resampled(strata: Sequence[Floats], draws: Draws, value: Value) -> Floats:
    return value([one[:, draw] for one, draw in zip(strata, draws, strict=True)])


def _percentile_ends(strata: Sequence[Floats], draws: Draws, value: Value, tail: float) -> tuple[Floats, Floats]:
    values = _resampled(strata, draws, value)
    return np.quantile(values, tail, axis=-1), np.quantile(values, 1.0 - tail, axis=-1)


def _expanded_ends(strata: Sequence[Floats], draws: Draws, value: Value, tail: float) -> tuple[Floats, Floats]:
    return _percentile_ends(strata, draws, value, expanded_tail(tail, [one.shape[-1] for one in strata]))


def expanded_tail(tail: float, runs: Sequence[int]) -> float:
    """Return the tail whose percentiles undo the narrowness of the bootstrap (Hesterberg 2015, section 5.3).

    The bootstrap spreads as if the variance had been divided by n, not n - 1, and its tails are the normal's, not t's.
    """
    return normal_cdf(t_quantile(tail, sum(n - 1 for n in runs)) * _too_narrow(runs))


def _too_narrow(runs: Sequence[int]) -> float:
    smallest = min(runs)
    return float((smallest / (smallest - 1)) ** 0.5)


def _t_ends(strata: Sequence[Floats], draws: Draws, value: Value, tail: float) -> tuple[Floats, Floats]:
    runs = [one.shape[-1] for one in strata]
    error = _resampled(strata, draws, value).std(axis=-1, ddof=1) * _too_narrow(runs)
    centre = value(strata)
    quantile = np.array([t_quantile(1.0 - tail, float(df)) for df in _freedom(strata, draws, value)])
    return centre - quantile * error, centre + quantile * error


def _freedom(strata: Sequence[Floats], draws: Draws, value: Value) -> Floats:
    """Return the degrees of freedom [S]: fewer when one stratum makes most of the spread (Welch 1947)."""
    runs = [one.shape[-1] for one in strata]
    if len(strata) == 1:
        return np.zeros(strata[0].shape[0]) + (runs[0] - 1.0)
    parts: Floats = np.stack([_alone(strata, draws, value, k) for k in range(len(strata))])
    below: Floats = np.sum(parts**2 / (np.array(runs)[:, None] - 1.0), axis=0)
    total: Floats = parts.sum(axis=0)
    safe: Floats = np.where(below > 0, below, 1.0)
    return np.where(below > 0, total**2 / safe, float(sum(runs) - len(runs)))


def _alone(strata: Sequence[Floats], draws: Draws, value: Value, which: int) -> Floats:
    """Return the variance [S] when only one stratum is resampled; an eighth of the samples is enough for shares."""
    draw = draws[which][: max(50, len(draws[which]) // 8)]
    seen = [
        one[:, draw] if k == which else np.broadcast_to(one[:, None], (one.shape[0], draw.shape[0], one.shape[-1]))
        for k, one in enumerate(strata)
    ]
    spread: Floats = np.var(value(seen), axis=-1, ddof=1)
    return spread


WORK: dict[Resampled, Callable[[Sequence[Floats], Draws, Value, float], tuple[Floats, Floats]]] = {
    "t": _t_ends,
    "percentile": _percentile_ends,
    "expanded": _expanded_ends,
}
"""How the ends of each method are made."""
