"""How rewards go with a second opinion: per sample, or per episode by level, end and change of the opinion."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .judges import Judge
from .measures import finite, rank_interval
from .sample import RewardSample

Array = NDArray[np.float64]
LEAST = 30
"""Pairs under which a rank correlation is known no better than to 0.36 (twice 1 / sqrt(n - 1))."""


@dataclass(frozen=True)
class Agreement:
    """Spearman's correlation of the return with what `judge` says, and its 95 % interval."""

    judge: str
    how: str
    """`score` per sample; `mean`, `last` or `change` over an episode."""
    rho: float
    low: float
    high: float
    pairs: int
    flipped: bool = False
    """Whether less is better."""
    guessed: bool = False
    """Whether nobody said so; see `Judge`."""


@lru_cache(maxsize=8)
def agreements(sample: RewardSample) -> tuple[Agreement, ...]:
    """Return, for each judge that can be compared, the view of it that agrees best with the returns.

    A reward for progress need not follow the mean distance, nor a reward for being near follow the change: a judge
    contradicts the reward only if all of its views do.
    """
    best: list[Agreement] = []
    for judge in sample.judges:
        views = [a for how, y in _views(sample, judge) if (a := _agreement(judge, how, sample.returns, y))]
        if views:
            best.append(max(views, key=lambda a: a.rho))
    return tuple(best)


def _views(sample: RewardSample, judge: Judge) -> list[tuple[str, Array]]:
    if not sample.stepwise:
        return [("score", judge.values)]
    rows = sample.whole
    last = np.array([judge.values[s.stop - 1] for s in rows])
    first = np.array([judge.values[s.start] for s in rows])
    return [("mean", sample.of_units(judge.values)), ("last", last), ("change", last - first)]


def _agreement(judge: Judge, how: str, returns: Array, view: Array) -> Agreement | None:
    both = np.isfinite(returns) & np.isfinite(view)
    x, y = returns[both], view[both]
    if x.size < LEAST or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return Agreement(judge.name, how, *rank_interval(x, y), int(x.size), judge.flipped, judge.guessed)


def superiority(some: Array, others: Array) -> float:
    """P(a value of `some` > a value of `others`), ties counting half: the area under the ROC curve."""
    some, others = finite(some), np.sort(finite(others))
    if not some.size or not others.size:
        return float("nan")
    below = np.searchsorted(others, some, side="left")
    equal = np.searchsorted(others, some, side="right") - below
    return float((below + 0.5 * equal).mean() / others.size)
