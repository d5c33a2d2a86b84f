"""How far labellers agree: Krippendorff's alpha, with an interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 400
"""Bootstrap resamples of the samples labelled."""
MOST_UNITS = 5000
"""Units that are resampled; of more, evenly spaced ones. Engineering default."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Agreement:
    """A coefficient with its 95 % bootstrap interval over samples; 1 is full agreement, 0 what chance gives."""

    value: float
    low: float
    high: float
    units: int
    """Samples that at least two labelled."""
    labellers: int


def krippendorff_alpha(units: Sequence[Sequence[float]]) -> float:
    """Return Krippendorff's alpha for interval data: `units` hold the scores that one sample got from its labellers.

    1 - observed / expected disagreement, samples with fewer than two scores left out (Krippendorff 2011, Computing
    Krippendorff's alpha-reliability). NaN without any spread.
    """
    counts, sums, squares = _moments(units)
    return _alpha(counts, sums, squares)


def _moments(units: Sequence[Sequence[float]]) -> tuple[Floats, Floats, Floats]:
    kept = [np.asarray(u, dtype=float) for u in units if len(u) > 1]
    return (
        np.array([u.size for u in kept], dtype=float),
        np.array([u.sum() for u in kept], dtype=float),
        np.array([(u**2).sum() for u in kept], dtype=float),
    )


def _alpha(counts: Floats, sums: Floats, squares: Floats) -> float:
    """The sums over ordered pairs in closed form: sum (a - b)^2 = 2 m sum a^2 - 2 (sum a)^2 over one set of m."""
    n = float(counts.sum())
    if n < 2:
        return float("nan")
    observed = float((2 * (counts * squares - sums**2) / (counts - 1)).sum()) / n
    expected = 2 * (n * float(squares.sum()) - float(sums.sum()) ** 2) / (n * (n - 1))
    return 1 - observed / expected if expected > 1e-12 * max(float(squares.sum()), 1e-300) else float("nan")


def agreement(scores: Mapping[str, Mapping[str, float]]) -> Agreement | None:
    """Return alpha over all samples that two or more labelled (content -> labeller -> score); None where none was."""
    units = [list(given.values()) for given in scores.values() if len(given) > 1]
    if not units:
        return None
    names = {name for given in scores.values() if len(given) > 1 for name in given}
    counts, sums, squares = _moments(units)
    value = _alpha(counts, sums, squares)
    if counts.size > MOST_UNITS:
        rows = np.linspace(0, counts.size - 1, MOST_UNITS).astype(int)
        counts, sums, squares = counts[rows], sums[rows], squares[rows]
    random = np.random.default_rng(0)
    drawn: list[float] = []
    for _ in range(RESAMPLES):
        rows = random.integers(0, counts.size, counts.size)
        drawn.append(_alpha(counts[rows], sums[rows], squares[rows]))
    known = [d for d in drawn if not math.isnan(d)]
    low, high = np.quantile(known, [0.025, 0.975]) if known else (float("nan"), float("nan"))
    return Agreement(value, float(low), float(high), len(units), len(names))
