"""Where a change began, as an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..series import Floats
from .robust import inflation, lag1


@dataclass(frozen=True)
class Change:
    """A change in a series: it began in [lo, hi] (positions), level `before` and `after`, `z` of the difference."""

    lo: float
    hi: float
    before: float
    after: float
    z: float


def first_run(mask: np.ndarray[tuple[int], np.dtype[np.bool_]], length: int) -> int | None:
    """Index at which the first run of at least `length` consecutive True of `mask` [n] begins, or None."""
    if length <= 0 or mask.size < length:
        return None
    summed = np.concatenate([[0], np.cumsum(mask)])
    full = np.flatnonzero(summed[length:] - summed[:-length] == length)
    return int(full[0]) if full.size else None


def persistent_onset(
    step: Floats, mask: np.ndarray[tuple[int], np.dtype[np.bool_]], length: int
) -> tuple[float, float] | None:
    """Interval (previous point, first point] of the first run of `length` True in `mask`; None when there is none.

    The true onset lies after the last point that was still fine and no later than the first that is not.
    """
    index = first_run(mask, length)
    if index is None:
        return None
    return float(step[max(index - 1, 0)]), float(step[index])


def step_change(step: Floats, value: Floats, margin: int = 4) -> Change | None:
    """Fit one step to `value` [n] by least squares and bound its position by profile likelihood (95 %).

    The likelihood is tempered by the residuals' autocorrelation. None under 2 * margin + 2 points or without spread.
    """
    n = int(value.size)
    if n < 2 * margin + 2:
        return None
    total = np.cumsum(value)
    k = np.arange(margin, n - margin + 1)
    left = total[k - 1] / k
    right = (total[-1] - total[k - 1]) / (n - k)
    gain = k * (n - k) / n * (left - right) ** 2
    power = float(np.dot(value - value.mean(), value - value.mean()))
    if power <= 0:
        return None
    best = int(np.argmax(gain))
    cost = np.maximum(power - gain, 1e-12 * power)
    split = int(k[best])
    residual = np.concatenate([value[:split] - left[best], value[split:] - right[best]])
    temper = inflation(lag1(residual))
    drop = n / temper * (np.log(cost) - np.log(cost[best])) / 2
    inside = k[drop <= 1.92]  # half the 95 % point of chi-squared with one degree of freedom
    variance = float(cost[best]) / max(n - 2, 1)
    error = float(np.sqrt(variance * temper * (1 / split + 1 / (n - split))))
    difference = float(right[best] - left[best])
    return Change(
        lo=float(step[max(int(inside[0]) - 1, 0)]),
        hi=float(step[min(int(inside[-1]), n - 1)]),
        before=float(left[best]),
        after=float(right[best]),
        z=difference / max(error, 1e-300),
    )


def two_piece_onset(step: Floats, value: Floats, margin: int = 4) -> Change | None:
    """Fit a flat piece followed by a slope, and bound the knee by profile likelihood (95 %).

    For ramps, where a step fit would put the onset in the middle. `before` is the flat level, `after` the fitted end.
    None under 2 * margin + 2 points or without spread.
    """
    n = int(value.size)
    if n < 2 * margin + 2 or step[-1] <= step[0]:
        return None
    x = (step - step[0]) / (step[-1] - step[0])
    knees = np.unique(np.linspace(0, n - margin - 1, min(n - margin, 64)).astype(int))
    fits: list[tuple[float, float, float, float]] = []
    for knee in knees:
        hinge = np.maximum(x - x[knee], 0.0)
        dh = hinge - hinge.mean()
        power = float(np.dot(dh, dh))
        slope = float(np.dot(dh, value)) / power if power > 0 else 0.0
        level = float(value.mean()) - slope * float(hinge.mean())
        residual = value - level - slope * hinge
        fits.append((float(np.dot(residual, residual)), level, slope, lag1(residual)))
    costs = np.array([f[0] for f in fits])
    total = float(np.dot(value - value.mean(), value - value.mean()))
    if total <= 0:
        return None
    best = int(np.argmin(costs))
    floor = max(float(costs[best]), 1e-12 * total)
    temper = inflation(fits[best][3])
    inside = knees[n / temper * (np.log(np.maximum(costs, floor)) - np.log(floor)) / 2 <= 1.92]
    rise = fits[best][2] * float(x[-1] - x[knees[best]])
    hinge = np.maximum(x - x[knees[best]], 0.0)
    spread = float(np.dot(hinge - hinge.mean(), hinge - hinge.mean()))
    error = float(np.sqrt(floor / max(n - 3, 1) * temper / max(spread, 1e-300))) * float(x[-1] - x[knees[best]])
    return Change(
        lo=float(step[max(int(inside[0]) - 1, 0)]),
        hi=float(step[min(int(inside[-1]) + 1, n - 1)]),
        before=fits[best][1],
        after=fits[best][1] + rise,
        z=rise / max(error, 1e-300),
    )
