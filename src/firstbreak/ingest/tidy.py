"""Puts the points of one curve in order: resumed stretches, repeats, points out of order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..series import Curve, Floats

MAX_RESUMES = 0.01
"""Share of points at which steps may go back before the axis is taken for disordered rather than resumed."""


def tidy(curve: Curve, *, keep_repeats: bool = False) -> tuple[Curve, list[float]]:
    """Return `curve` with non-decreasing steps, and the steps at which it was resumed.

    Where steps go back, what was written later replaces what it overlaps. Of several points at one step the last
    counts, unless `keep_repeats` (single episodes may end together). Points without a step are dropped.
    """
    step = curve.step
    if len(curve) and bool(np.all(step[1:] > step[:-1])) and np.isfinite(step[0]) and np.isfinite(step[-1]):
        return curve, []
    if not bool(np.all(np.isfinite(step))):
        curve = _take(curve, np.isfinite(step))
    moves = np.diff(curve.step)
    resumes: list[float] = []
    if bool(np.any(moves < 0)):
        curve, resumes = _in_order(curve, moves)
        moves = np.diff(curve.step)
    if not keep_repeats and bool(np.any(moves == 0)):
        curve = _take(curve, np.append(moves > 0, True))
    return curve, resumes


def _in_order(curve: Curve, moves: Floats) -> tuple[Curve, list[float]]:
    drops = np.flatnonzero(moves < 0) + 1
    forward = moves[moves > 0]
    cadence = float(np.median(forward)) if forward.size else 1.0
    mixed = drops.size > max(3.0, MAX_RESUMES * len(curve))
    slight = bool(np.all(moves[drops - 1] >= -2.0 * cadence)) and np.unique(curve.step).size == len(curve)
    if mixed or slight:
        return _take(curve, np.argsort(curve.step, kind="stable")), []
    # A point counts if every later stretch begins after it.
    starts = curve.step[drops]
    lowest = np.append(np.minimum.accumulate(starts[::-1])[::-1], np.inf)
    stretch = np.searchsorted(drops, np.arange(len(curve)), side="right")
    kept = _take(curve, curve.step < lowest[stretch])
    return kept, [float(step) for step in starts]


def _take(curve: Curve, which: NDArray[np.bool_] | NDArray[np.intp]) -> Curve:
    wall = None if curve.wall is None else curve.wall[which]
    return Curve(curve.step[which], curve.value[which], wall)


def row_axis(curves: list[Curve]) -> Floats:
    """Return the steps [n] at which any of `curves` has a point."""
    steps = [curve.step for curve in curves if len(curve)]
    return np.unique(np.concatenate(steps)) if steps else np.empty(0)


def one_row_earlier(curve: Curve, rows: Floats) -> Curve:
    """Move each point to the row before it in `rows` [n]; a point of the first row goes to 0."""
    place = np.searchsorted(rows, curve.step, side="left")
    origin = min(0.0, float(rows[0])) if rows.size else 0.0
    earlier = np.where(place > 0, rows[np.maximum(place - 1, 0)], origin) if rows.size else curve.step
    return tidy(Curve(earlier, curve.value, curve.wall))[0]
