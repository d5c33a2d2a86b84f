"""Performance profiles: the share of runs that score above each threshold (arXiv 2108.13264, section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...series import Floats
from .intervals import REPS, resampling
from .runs import Scores, as_tasks, fewest


@dataclass(frozen=True)
class Profile:
    """A performance profile with a band at each threshold."""

    thresholds: Floats
    """[T]"""
    share: Floats
    """Runs above each threshold, every task weighing alike [T]."""
    lo: Floats | None
    """Lower end of the pointwise band [T]; None for a single run a task."""
    hi: Floats | None
    """Upper end [T]."""
    runs: int


def performance_profile(
    scores: Scores, thresholds: Floats, *, level: float = 0.95, reps: int = REPS, seed: int = 0
) -> Profile:
    """Return the share of runs above each of `thresholds` [T]; the band is the stratified bootstrap's percentiles.

    Raises:
        InputError: scores are missing, NaN or infinite.
    """
    tasks = as_tasks(scores)
    at = np.asarray(thresholds, np.float64)
    above = [task[:, None] > at for task in tasks]
    share = np.mean([a.mean(axis=0) for a in above], axis=0)
    runs = fewest(tasks)
    if runs < 2:
        return Profile(at, share, None, None, runs)
    draws = resampling([task.size for task in tasks], reps, seed)
    values: Floats = np.mean([_shares(a, draw) for a, draw in zip(above, draws, strict=True)], axis=0)
    tail = (1.0 - level) / 2
    return Profile(at, share, np.quantile(values, tail, axis=0), np.quantile(values, 1.0 - tail, axis=0), runs)


def _shares(
    above: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], draw: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
) -> Floats:
    """Return the share above each threshold in every bootstrap sample [reps, T]."""
    runs = above.shape[0]
    times = np.stack([np.count_nonzero(draw == i, axis=1) for i in range(runs)], axis=1)
    return times.astype(np.float64) @ above.astype(np.float64) / runs
