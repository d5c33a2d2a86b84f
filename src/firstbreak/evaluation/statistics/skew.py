"""Student's t bent to the skewness and the tails of the scores: what a mean of 20 runs or more needs.

An interval of Student's t holds the mean of exponential scores 92 times in 100 with 20 runs, and one that follows their
skewness alone holds heavy tails 92 times. This one follows both, and holds 93 to 97 times whatever the shape, as far as
20 runs can show the shape (docs/statistics_results.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...series import Floats
from .student import t_quantile

Value = Callable[[Sequence[Floats]], Floats]
SKEWNESS = 1.0
"""Skewness of one stratum beyond which no more is believed, where the scores are no heavier in their tails than normal
ones. Like the four limits below calibrated on 20 to 100 simulated scores of 20 shapes, tried on six more
(docs/statistics_results.md)."""
SKEWNESS_BY_KURTOSIS = 0.25
"""So much more of it is believed for each unit of excess kurtosis, and less below 0: runs in two heaps, some of which
failed, look skewed by the chance of how many did, while a long tail that is there shows in both moments."""
LEAST_SKEWNESS, MOST_SKEWNESS = 0.5, 1.5
"""Between these the limit moves."""
MOST_KURTOSIS = 2.0
"""The same for how heavy the tails are, as excess kurtosis; no scores have less than -2."""


def skewed_ends(strata: Sequence[Floats], value: Value, tail: float) -> tuple[Floats, Floats]:
    """Return the ends [S] of the intervals of S data sets for a sum over strata of means over runs.

    Skewness: Hall's monotone cubic transform of Student's ratio (Hall 1992, JRSS B 54, "On the removal of skewness by
    transformation"), solved for the mean. Tails: the quantile is moved by the terms in the kurtosis that remain after
    the transform (from the expansions in Hall 1992, "The bootstrap and Edgeworth expansion", section 2.6: that of
    Student's ratio itself and that of an estimated skewness). Both are estimated, and so believed only up to a limit.

    Args:
        strata: One array [S, runs] a stratum, of 2 runs or more; tails are followed from 4 on.
        value: Takes one array [..., runs] a stratum, of any numbers of runs, and returns a sum over strata of means
            over runs: a mean, an optimality gap, a difference of means.
        tail: Share to be left out at each end.
    """
    pulls = [each - each.mean(axis=-1, keepdims=True) for each in contributions(strata, value)]
    runs = [each.shape[-1] for each in pulls]
    parts: Floats = np.stack([np.sum(each**2, axis=-1) / (n * (n - 1.0)) for each, n in zip(pulls, runs, strict=True)])
    variance: Floats = parts.sum(axis=0)
    safe: Floats = np.where(variance > 0, variance, 1.0)
    spread = [np.sqrt(np.mean(each**2, axis=-1)) for each in pulls]
    skewness = [_moment(each, s, 3) for each, s in zip(pulls, spread, strict=True)]
    kurtosis = [_excess(_moment(each, s, 4), n) for each, s, n in zip(pulls, spread, runs, strict=True)]
    bend: Floats = np.zeros_like(safe)
    heavy: Floats = np.zeros_like(safe)
    for part, skew, kurt, n in zip(parts, skewness, kurtosis, runs, strict=True):
        limit: Floats = np.clip(SKEWNESS + SKEWNESS_BY_KURTOSIS * kurt, LEAST_SKEWNESS, MOST_SKEWNESS)
        bend += np.clip(skew, -limit, limit) * (part / safe) ** 1.5 / n**0.5
        heavy += np.clip(kurt, -2.0, MOST_KURTOSIS) * (part / safe) ** 2 / n
    quantile = _quantiles(tail, parts, runs)
    wide: Floats = quantile * (1.0 + (3.0 * quantile**2 + 5.0) / 12.0 * heavy)
    centre, error = value(strata), np.sqrt(variance)
    return centre - error * _bent(wide, bend), centre - error * _bent(-wide, bend)


def contributions(strata: Sequence[Floats], value: Value) -> list[Floats]:
    """Return what each run adds to `value`, up to a constant, one array [S, runs] a stratum: nothing is resampled.

    A sum of means changes by a run's own share when that run stands for its whole stratum, whatever the others hold.
    """
    found: list[Floats] = []
    for place, one in enumerate(strata):
        others = [np.broadcast_to(other[..., :1, None], (*one.shape, 1)) for other in strata]
        found.append(value([*others[:place], one[..., None], *others[place + 1 :]]))
    return found


def _moment(pulls: Floats, spread: Floats, order: int) -> Floats:
    safe: Floats = np.where(spread > 0, spread, 1.0)
    found: Floats = np.mean(pulls**order, axis=-1) / safe**order
    return found


def _excess(fourth: Floats, runs: int) -> Floats:
    """Return the excess kurtosis from the fourth moment, without its bias for normal scores (Fisher's k-statistics)."""
    if runs < 4:
        return np.zeros_like(fourth)
    return (runs - 1.0) / ((runs - 2.0) * (runs - 3.0)) * ((runs + 1.0) * (fourth - 3.0) + 6.0)


def _quantiles(tail: float, parts: Floats, runs: Sequence[int]) -> Floats:
    """Return Student's quantile [S], with fewer degrees of freedom where one stratum makes the spread (Welch 1947)."""
    if len(runs) == 1:
        return np.zeros(parts.shape[1]) + t_quantile(1.0 - tail, runs[0] - 1.0)
    below: Floats = np.sum(parts**2 / (np.array(runs)[:, None] - 1.0), axis=0)
    safe: Floats = np.where(below > 0, below, 1.0)
    freedom: Floats = np.where(below > 0, parts.sum(axis=0) ** 2 / safe, float(sum(runs) - len(runs)))
    found: Floats = np.array([t_quantile(1.0 - tail, df) for df in freedom.tolist()], np.float64)
    return found


def _bent(ratio: Floats, bend: Floats) -> Floats:
    """Return Student's ratio whose transform is `ratio`: the inverse of T + b T^2 / 3 + b^2 T^3 / 27 + b / 6."""
    small = np.abs(bend) < 1e-8
    safe: Floats = np.where(small, 1.0, bend)
    found: Floats = np.where(small, ratio, 3.0 / safe * (np.cbrt(1.0 + safe * (ratio - safe / 6.0)) - 1.0))
    return found
