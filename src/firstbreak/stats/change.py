"""Where a change began, as an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..series import Floats
from .robust import inflation_from

STEP_DROP = 2.97
"""Fall of the log-likelihood that bounds the position of a step with 90 % confidence: half of 5.94. A position is not a
regular parameter, so chi-squared does not hold (Hansen 2000, Econometrica 68, table 1)."""
KNEE_DROP = 1.92
"""The same for a knee: half the 95 % point of chi-squared with one degree of freedom."""
SOONER = 0.95
"""Share of the usual distance between rows up to which one comes early: 24, 40 or 56 steps in a World of 64."""
KNEES = 64
"""Candidate knees that are tried at most; the interval is widened to the neighbouring candidates."""


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
    if length <= 0 or mask.size < length or not mask.any():
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


def least_of(value: Floats, length: int) -> Floats:
    """Return the least [n - length + 1] of each `length` values on end of `value` [n]; `length` is small."""
    last = value.size - length + 1
    least = value[:last].copy()
    for shift in range(1, length):
        np.minimum(least, value[shift : shift + last], out=least)
    return least


def largest_of(value: Floats, length: int) -> Floats:
    """Return the largest [n - length + 1] of each `length` values on end of `value` [n]; `length` is small."""
    return -least_of(-value, length)


def surpassed(value: Floats, *, rows: int, least: float, times: float, lasts: int, decisive: float) -> int | None:
    """Return the first place, after `rows` of them, from which values leave all earlier ones far below and stay there.

    The bar is `times` the largest earlier value, and at least `least`. `lasts` values in a row must lie above it, or
    one above `decisive` times the bar.
    """
    if value.size <= rows:
        return None
    bar = np.maximum(least, times * np.maximum.accumulate(value)[rows - 1 : -1])
    now = value[rows:]
    alone = now > decisive * bar
    whole = value.size - lasts + 1 - rows  # places that have `lasts` values after them
    if whole > 0:
        low = least_of(value, lasts)[rows:]
        alone[:whole] |= low > bar[:whole]
    found = np.flatnonzero(alone)
    return int(found[0]) + rows if found.size else None


def borne_out(step: Floats, value: Floats, least: float) -> Floats:
    """Return `value` [n], where a row that came early counts no more than the next one bears out.

    A World tells of a few steps at once where these are further off than any before. So picked, and of so few steps,
    one such row shows a cart at the end of its rail as well as a world that changed. Full rows keep their distance: a
    row that comes sooner than usual after the one before is early, or holds what early ones left; the newest counts as
    `least` until the next is there.
    """
    if value.size < 3:
        return value
    gap = np.diff(step)
    early = np.append(False, gap <= SOONER * float(np.median(gap)))
    return np.where(early, np.minimum(value, np.append(value[1:], least)), value)


def step_change(step: Floats, value: Floats, margin: int = 4) -> Change | None:
    """Fit one step to `value` [n] by least squares and bound its position by profile likelihood (90 %).

    The likelihood is tempered by the residuals' autocorrelation: the interval holds the true position in about 90 %
    of cases or more, for white noise and for AR(1) with rho up to 0.8. `z` is the largest over all positions, so it is
    above 4 without any change in 0.2 % of white noise but in 13 % of AR(1) stretches of 30 points at rho 0.8 (4 % of
    100 points): ask for more than 4 there. None under 2 * margin + 2 points or without spread.
    """
    n = int(value.size)
    if n < 2 * margin + 2 or value.max() - value.min() <= 0:
        return None
    centre = float(value.mean())
    total = np.cumsum(value - centre)
    k = np.arange(margin, n - margin + 1)
    left = total[k - 1] / k
    right = (total[-1] - total[k - 1]) / (n - k)
    gain = k * (n - k) / n * (left - right) ** 2
    power = float(np.dot(value - centre, value - centre))
    best = int(np.argmax(gain))
    cost = np.maximum(power - gain, 1e-12 * power)
    split = int(k[best])
    residual = np.concatenate([value[:split] - left[best], value[split:] - right[best]]) - centre
    temper = inflation_from(residual, 2)
    drop = n / temper * (np.log(cost) - np.log(cost[best])) / 2
    inside = k[drop <= STEP_DROP]
    variance = float(cost[best]) / max(n - 2, 1)
    error = float(np.sqrt(variance * temper * (1 / split + 1 / (n - split))))
    difference = float(right[best] - left[best])
    return Change(
        lo=float(step[max(int(inside[0]) - 1, 0)]),
        hi=float(step[min(int(inside[-1]), n - 1)]),
        before=centre + float(left[best]),
        after=centre + float(right[best]),
        z=difference / max(error, 1e-300),
    )


def two_piece_onset(step: Floats, value: Floats, margin: int = 4) -> Change | None:
    """Fit a flat piece followed by a slope, and bound the knee by profile likelihood (95 % for white
    noise, about 90 % for AR(1) with rho 0.8).

    For ramps, where a step fit would put the onset in the middle. `before` is the flat level, `after` the fitted end.
    None under 2 * margin + 2 points or without spread.
    """
    n = int(value.size)
    if n < 2 * margin + 2 or step[-1] <= step[0] or value.max() - value.min() <= 0:
        return None
    total = float(np.dot(value - value.mean(), value - value.mean()))
    x = (step - step[0]) / (step[-1] - step[0])
    knees = np.unique(np.linspace(0, n - margin - 1, min(n - margin, KNEES)).astype(int))
    fits = [_hinge_fit(x, value, float(x[knee])) for knee in knees]
    costs = np.array([fit.cost for fit in fits])
    best = int(np.argmin(costs))
    fit, floor = fits[best], max(float(costs[best]), 1e-12 * total)
    temper = inflation_from(fit.residual, 2)
    inside = np.flatnonzero(n / temper * (np.log(np.maximum(costs, floor)) - np.log(floor)) / 2 <= KNEE_DROP)
    reach = float(x[-1] - x[knees[best]])
    error = float(np.sqrt(floor / max(n - 3, 1) * temper / max(fit.power, 1e-300))) * reach
    return Change(
        lo=float(step[int(knees[max(int(inside[0]) - 1, 0)])]),
        hi=float(step[int(knees[min(int(inside[-1]) + 1, knees.size - 1)])]),
        before=fit.level,
        after=fit.level + fit.slope * reach,
        z=fit.slope * reach / max(error, 1e-300),
    )


@dataclass(frozen=True)
class _Hinge:
    """`level`, then `slope` from the knee on: its squared error, residuals [n] and the hinge's own squared spread."""

    level: float
    slope: float
    cost: float
    power: float
    residual: Floats


def _hinge_fit(x: Floats, value: Floats, knee: float) -> _Hinge:
    """Least squares for a given `knee`."""
    hinge = np.maximum(x - knee, 0.0)
    centred = hinge - hinge.mean()
    power = float(np.dot(centred, centred))
    slope = float(np.dot(centred, value)) / power if power > 0 else 0.0
    level = float(value.mean()) - slope * float(hinge.mean())
    residual = value - level - slope * hinge
    return _Hinge(level, slope, float(np.dot(residual, residual)), power, residual)
