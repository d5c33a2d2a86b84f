"""How many states the better and the worse half of the episodes visit, with an interval over episodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .coverage import Grid
from .record import Record
from .trajectory import Floats

FEWEST_EACH = 10
"""Episodes in each half. Engineering default."""
RESAMPLES = 200
MOST_STATES = 2000
"""States that both halves are thinned to. Engineering default."""


@dataclass(frozen=True)
class Halves:
    """Effective numbers of cells, and the ratio of the better half's to the worse half's with its 95 % interval."""

    high: float
    low: float
    ratio_low: float
    ratio_high: float
    better: NDArray[np.bool_]
    """Of `record.wide`: returns above the median."""
    worse: NDArray[np.bool_]


def halves(record: Record, seed: int = 0) -> Halves | None:
    """Compare the halves; None where one has fewer than ten episodes.

    Both halves are thinned to the same number of states; episodes are drawn anew with replacement for the interval
    (percentile bootstrap, Efron & Tibshirani 1993).
    """
    returns = np.array([one.paid for one in record.wide])
    known = np.isfinite(returns)
    middle = float(np.median(returns[known])) if known.any() else 0.0
    better, worse = known & (returns > middle), known & (returns < middle)
    if min(better.sum(), worse.sum()) < FEWEST_EACH:
        return None
    grid = Grid(record.states)
    visits = np.zeros((len(returns), grid.cells))
    for row, one in zip(visits, record.wide, strict=True):
        for cell, count in grid.counts(one.observations).items():
            row[cell] = count
    random = np.random.default_rng(seed)
    of = [np.flatnonzero(better), np.flatnonzero(worse)]
    pairs = np.array([_pair([visits[random.choice(rows, len(rows))] for rows in of], random) for _ in range(RESAMPLES)])
    low, high = np.quantile(pairs[:, 0] / pairs[:, 1], [0.025, 0.975])
    whole = _pair([visits[rows] for rows in of], random)
    return Halves(whole[0], whole[1], float(low), float(high), better, worse)


def _pair(visits: list[Floats], random: np.random.Generator) -> tuple[float, float]:
    """Return the effective number of cells of both halves, of as many states each."""
    sums = [part.sum(axis=0) for part in visits]
    size = int(min(MOST_STATES, *(s.sum() for s in sums)))
    if size < 1:
        return 1.0, 1.0
    numbers = [_effective(random.multinomial(size, s / s.sum())) for s in sums]
    return numbers[0], numbers[1]


def _effective(counts: NDArray[np.int64]) -> float:
    """Return the exponential of the entropy of counts [cells] (Hill 1973, order 1)."""
    share = counts[counts > 0] / counts.sum()
    return float(np.exp(-(share * np.log(share)).sum()))
