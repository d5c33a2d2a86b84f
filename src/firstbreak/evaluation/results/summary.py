"""One result summed up: over items, over runs, pass@k, and what its size can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ...series import Floats
from ..statistics import IQM, MEAN, Interval, detectable, interval
from ..statistics.pass_at_k import pass_at_k
from ..statistics.proportion import wilson
from .reading import Scores


@dataclass(frozen=True)
class Summary:
    """What one result says."""

    scores: Scores
    items: int
    runs: int
    samples: tuple[int, int]
    """Fewest and most scores of one item in one run."""
    mean: float
    over_items: Interval | None
    """Of these very checkpoints, had other items or episodes been drawn; None for a single item."""
    over_runs: Interval | None
    """Mean of the method, had other seeds been trained; None for a single run."""
    iqm: Interval | None
    """The same of the interquartile mean."""
    pass_at: dict[int, Interval]
    noise: float
    """Standard error of the mean over items; NaN for a single one."""
    detectable: float
    """Difference that as many items of another checkpoint would show with probability 0.8; infinite where they have no
    spread, for which nothing can be said."""
    span: float = float("inf")
    """The largest difference that two means of such scores can have; infinite where no bounds are known."""


def summary(scores: Scores, ks: Sequence[int] = (), *, level: float = 0.95) -> Summary:
    """Sum up one result.

    Args:
        scores: What was measured.
        ks: The k of pass@k; scores must then be 0 or 1.
        level: Coverage of the intervals.

    Raises:
        InputError: pass@k is asked of scores that are not 0 or 1, or with k above the samples of an item.
    """
    means = item_means(scores)
    runs = run_means(scores)
    counts = [len(v) for run in scores.runs for v in scores.items_of(run).values()]
    many = means.size > 1
    sd = float(means.std(ddof=1)) if many else float("nan")
    least, most = bounds(scores)
    over_items = _over_items(means, level) if many else None
    over_runs = interval(runs, MEAN, level=level) if runs.size > 1 else None
    iqm = interval(runs, IQM, level=level) if runs.size > 1 else None
    return Summary(
        scores=scores,
        items=means.size,
        runs=runs.size,
        samples=(min(counts), max(counts)),
        mean=float(means.mean()),
        over_items=None if over_items is None else over_items.within(least, most),
        over_runs=None if over_runs is None else over_runs.within(least, most),
        iqm=None if iqm is None else iqm.within(least, most),
        pass_at={k: _pass_at(scores, k, level) for k in ks},
        noise=sd / means.size**0.5 if many else float("nan"),
        detectable=detectable(sd, int(means.size)) if sd > 0 else float("inf"),
        span=most - least,
    )


def _over_items(means: Floats, level: float) -> Interval:
    if np.ptp(means) == 0 and means[0] in (0.0, 1.0):  # all passed or all failed: a share has an interval even so
        return wilson(float(means.sum()), int(means.size), level=level)
    return interval(means, MEAN, level=level)


def bounds(scores: Scores) -> tuple[float, float]:
    """Return the least and the most that a mean of such scores can be: of passes 0 and 1, else nothing is known."""
    passes = all(row.value in (0.0, 1.0) for row in scores.rows)
    return (0.0, 1.0) if passes else (float("-inf"), float("inf"))


def item_means(scores: Scores) -> Floats:
    """Return the mean of each item over its samples and runs [items]."""
    return np.array([float(np.mean(v)) for v in scores.items_of().values()])


def run_means(scores: Scores) -> Floats:
    """Return the mean over items of each run [runs]."""
    return np.array([float(np.mean([np.mean(v) for v in scores.items_of(r).values()])) for r in scores.runs])


def _pass_at(scores: Scores, k: int, level: float) -> Interval:
    groups = [values for run in scores.runs for values in scores.items_of(run).values()]
    odd = next((v for values in groups for v in values if v not in (0.0, 1.0)), None)
    if odd is not None:
        raise InputError(f"pass@{k} counts passes, but a score is {odd:g}.", "Give scores of 0 and 1.")
    return pass_at_k([len(v) for v in groups], [int(sum(v)) for v in groups], k, level=level)
