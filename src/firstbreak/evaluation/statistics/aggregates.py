"""What sums up the scores of all runs on all tasks: mean, interquartile mean, optimality gap (arXiv 2108.13264).

Each aggregate is a function of arrays [..., runs], one a task, so that bootstrap samples and simulations go through it
at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...series import Floats
from .runs import UnequalRunsError


@dataclass(frozen=True)
class Aggregate:
    """One number of many runs: `value` takes one array [..., runs] a task and returns [...]."""

    name: str
    value: Callable[[Sequence[Floats]], Floats]
    trimmed: bool = False
    """Whether the lowest and highest scores are left out, over all tasks together: numbers of runs must be equal."""


def _mean(tasks: Sequence[Floats]) -> Floats:
    return np.mean([task.mean(axis=-1) for task in tasks], axis=0)


def _iqm(tasks: Sequence[Floats]) -> Floats:
    _equal(tasks)
    pooled = np.sort(np.concatenate(tasks, axis=-1), axis=-1)
    cut = pooled.shape[-1] // 4
    return pooled[..., cut : pooled.shape[-1] - cut].mean(axis=-1)


def _equal(tasks: Sequence[Floats]) -> None:
    counts = sorted({task.shape[-1] for task in tasks})
    if len(counts) > 1:
        raise UnequalRunsError(
            f"Tasks have between {counts[0]} and {counts[-1]} runs; the interquartile mean pools them.",
            "Give every task the same number of runs, or use the mean, which weighs every task alike.",
        )


MEAN = Aggregate("mean", _mean)
"""The mean over tasks of the mean over runs."""
IQM = Aggregate("interquartile mean", _iqm, trimmed=True)
"""The mean of the middle half of all runs on all tasks."""


def optimality_gap(target: float = 1.0) -> Aggregate:
    """Return the aggregate: by how much scores fall short of `target`, those above it counting as there."""
    return Aggregate(
        f"optimality gap to {target:g}",
        lambda tasks: target - _mean([np.minimum(task, target) for task in tasks]),
    )
