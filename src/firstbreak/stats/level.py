"""Where a series stands between the worst and the best it has been, and whether it still climbs.

For rules that must tell "converged" from "stuck": both end with nothing moving, only the level differs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..series import Floats
from .change import least_of
from .robust import median, quantile
from .trend import linear_trend

RECENT = 8
"""Least number of points that "recent" means."""


@dataclass(frozen=True)
class Level:
    """The recent level of a series against its own range.

    `shortfall` is (best - recent) / (best - worst): 0 at the best ever, 1 at the worst, NaN without a range.
    `spread` is the recent interquartile range over the same range. `rise` is the z of a line through the last half;
    0 under 16 points.
    """

    recent: float
    best: float
    worst: float
    shortfall: float
    spread: float
    rise: float

    @property
    def rising(self) -> bool:
        """Whether the last half climbs with z > 2."""
        return self.rise > 2.0


def level(value: Floats) -> Level:
    """Judge `value` [n], oldest first, finite; "recent" is the last eighth, at least `RECENT` points."""
    n = int(value.size)
    nan = float("nan")
    if n == 0:
        return Level(nan, nan, nan, nan, nan, 0.0)
    tail = value[-max(RECENT, n // 8) :]
    recent, best, worst = median(tail), float(value.max()), float(value.min())
    extent = best - worst
    upper, lower = quantile(tail, 0.75), quantile(tail, 0.25)
    half = value[-max(RECENT, n // 2) :]
    rise = linear_trend(np.arange(half.size, dtype=np.float64), half).z if n >= 2 * RECENT else 0.0
    if extent <= 1e-12 * max(abs(best), abs(worst), 1e-300):
        return Level(recent, best, worst, nan, nan, rise)
    return Level(recent, best, worst, (best - recent) / extent, (upper - lower) / extent, rise)


def opening(value: Floats, points: int = 5) -> float:
    """Median of the first `points` of `value` [n]: the run's own start as a reference."""
    return median(value[:points])


def sustained_jump(
    value: Floats, factor: float, points: int, history: int = 20, floor: float = 0.0
) -> tuple[int, float] | None:
    """First index of `value` [n] from which `points` in a row reach `factor` times the level before; and that level.

    The level is the 90th percentile of up to 256 points before (at least `history`), no less than `floor`: beyond what
    single wild points reach. Only the first 64 places that exceed the median of the opening are tried.
    """
    if value.size < history + points:
        return None
    lowest = least_of(value, points)
    places = np.flatnonzero(lowest >= factor * max(median(value[:history]), floor))
    for place in places[places >= history][:64]:
        before = max(quantile(value[max(0, place - 256) : place], 0.9), floor, 1e-300)
        if lowest[place] >= factor * before:
            return int(place), before
    return None
