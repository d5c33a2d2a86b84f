"""Whether X is better than Y: the probability that a run of X beats a run of Y, and the difference of their means."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...errors import InputError
from ...series import Floats
from .aggregates import MEAN
from .intervals import ENOUGH, REPS, Interval, Resampled, default_method, resampled
from .runs import Scores, Tasks, as_tasks, need_seeds
from .student import t_quantile


def probability_of_improvement(
    x: Scores, y: Scores, *, level: float = 0.95, method: Resampled | None = None, reps: int = REPS, seed: int = 0
) -> Interval:
    """Return the mean over tasks of P(a run of X scores above one of Y), ties counting half (arXiv 2108.13264).

    From 20 runs on the interval is that of the stratified bootstrap. Below, and where one side wins every time, the
    bootstrap is too narrow or has no width at all; the interval is then the score interval of `score_ends`.
    `method="percentile"` is rliable's.

    Raises:
        SingleSeedError: a task has a single run of X or of Y.
        InputError: X and Y do not have the same tasks.
    """
    strata, count = _strata(x, y)

    def value(some: Sequence[Floats]) -> Floats:
        return np.mean([_beats(a, b) for a, b in zip(some[:count], some[count:], strict=True)], axis=0)

    runs = min(one.size for one in strata)
    found = float(value(strata))
    if method is None and (runs < ENOUGH or found in (0.0, 1.0)):
        sizes = [(a.size, b.size) for a, b in zip(strata[:count], strata[count:], strict=True)]
        return Interval(found, *score_ends(found, sizes, level), level, "score", runs)
    made = resampled(strata, value, level=level, method=method or default_method(runs), reps=reps, seed=seed)
    return replace(made, lo=max(made.lo, 0.0), hi=min(made.hi, 1.0))


def score_ends(found: float, sizes: Sequence[tuple[int, int]], level: float) -> tuple[float, float]:
    """Return the probabilities from which `found` is just as far as chance goes (Newcombe 2006, method 5).

    Args:
        found: The mean over tasks.
        sizes: Runs of X and of Y for each task.
        level: Coverage asked for; Student's quantile stands for the normal's, as runs are few.
    """
    quantile = t_quantile(0.5 + level / 2, sum(m + n - 2 for m, n in sizes))

    def outside(truth: float) -> bool:
        variance = sum(_variance(truth, m, n) for m, n in sizes) / len(sizes) ** 2
        return abs(found - truth) > quantile * math.sqrt(variance)

    return _edge(found, 0.0, outside), _edge(found, 1.0, outside)


def _variance(truth: float, m: int, n: int) -> float:
    """Return the variance of the Mann-Whitney share under exponential scores (Hanley and McNeil 1982)."""
    middle = 0.5 * (m + n) - 1.0
    factor = 1.0 + middle * ((1.0 - truth) / (2.0 - truth) + truth / (1.0 + truth))
    return truth * (1.0 - truth) * factor / (m * n)


def _edge(inside: float, limit: float, outside: Callable[[float], bool]) -> float:
    """Return the point between `inside` and `limit` where `outside` begins."""
    near, far = inside, limit
    for _ in range(60):
        middle = 0.5 * (near + far)
        near, far = (near, middle) if outside(middle) else (middle, far)
    return near


def difference(x: Scores, y: Scores, *, level: float = 0.95, reps: int = REPS, seed: int = 0) -> Interval:
    """Return the mean of X minus that of Y, runs independent; every task weighs alike.

    Raises:
        SingleSeedError: a task has a single run of X or of Y.
        InputError: X and Y do not have the same tasks.
    """
    strata, count = _strata(x, y)

    def value(some: Sequence[Floats]) -> Floats:
        return MEAN.value(some[:count]) - MEAN.value(some[count:])

    method = default_method(min(one.size for one in strata), trimmed=False)
    return resampled(strata, value, level=level, method=method, reps=reps, seed=seed)


def paired_difference(x: Scores, y: Scores, *, level: float = 0.95, reps: int = REPS, seed: int = 0) -> Interval:
    """Return the mean of X - Y over runs that belong together (the same seed, item or checkpoint), in the same order.

    Raises:
        SingleSeedError: a task has a single pair.
        InputError: X and Y do not have the same tasks or the same number of runs.
    """
    left, right = _same_tasks(x, y)
    if any(a.size != b.size for a, b in zip(left, right, strict=True)):
        raise InputError(
            "X and Y have different numbers of runs, so they do not pair.",
            "Keep the pairs that both have, or compare them unpaired.",
        )
    pairs = tuple(a - b for a, b in zip(left, right, strict=True))
    method = default_method(need_seeds(pairs, "A paired difference"), trimmed=False)
    return resampled(pairs, MEAN.value, level=level, method=method, reps=reps, seed=seed)


def _beats(a: Floats, b: Floats) -> Floats:
    """Return P(A > B) + P(A = B) / 2 over all pairs [...] of runs a [..., n] and b [..., m]."""
    above = (a[..., :, None] > b[..., None, :]).mean(axis=(-1, -2))
    equal = (a[..., :, None] == b[..., None, :]).mean(axis=(-1, -2))
    return above + 0.5 * equal


def _strata(x: Scores, y: Scores) -> tuple[Tasks, int]:
    left, right = _same_tasks(x, y)
    need_seeds(left, "An interval for X")
    need_seeds(right, "An interval for Y")
    return left + right, len(left)


def _same_tasks(x: Scores, y: Scores) -> tuple[Tasks, Tasks]:
    if isinstance(x, Mapping) and isinstance(y, Mapping):
        if x.keys() != y.keys():
            missing = sorted(str(k) for k in x.keys() ^ y.keys())
            raise InputError(
                f"X and Y do not have the same tasks: {', '.join(missing[:5])} on one side only.",
                "Compare on the tasks that both have.",
            )
        y = {name: y[name] for name in x}
    left, right = as_tasks(x), as_tasks(y)
    if len(left) != len(right):
        raise InputError(f"X has {len(left)} tasks, Y has {len(right)}.", "Compare on the tasks that both have.")
    return left, right
