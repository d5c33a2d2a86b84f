"""Curves of one source that count their own steps (updates among environment steps), put on the run's by wall time.

Tianshou writes `update/*` by update and `training/*` by environment step into one event file; rl_games and rsl_rl add
curves over seconds. Only wall time tells that such axes differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..runlog import Problem, Recording
from ..series import Curve

APART = 3.0
"""Factor between two steps at the same moment from which they cannot count the same thing. Engineering choice."""
MIN_POINTS = 3


def on_one_axis(recording: Recording, clock: str) -> Recording:
    """Return `recording` with every curve on the axis that counts `clock`."""
    timed = {
        key: curve for key, curve in recording.curves.items() if curve.wall is not None and len(curve) >= MIN_POINTS
    }
    reference = _reference(timed, clock)
    if reference is None:
        return recording
    curves = dict(recording.curves)
    moved: list[str] = []
    for key, curve in timed.items():
        if curve is not reference and _apart(curve, reference):
            curves[key] = Curve(_rows_at(curve, reference), curve.value, curve.wall)
            moved.append(key)
    if not moved:
        return recording
    what = f"{len(moved)} metrics count steps of their own ({moved[0]}, ...); wall time puts them on the run's steps."
    return replace(recording, curves=curves, problems=[*recording.problems, Problem(recording.path, "", what)])


def _reference(timed: Mapping[str, Curve], clock: str) -> Curve | None:
    """Return a curve on the run's own axis: environment steps are the largest numbers; else what most curves share."""
    usable = [curve for curve in timed.values() if _in_order(curve)]
    if not usable:
        return None
    if clock == "env_steps":
        last = max(float(curve.step[-1]) for curve in usable)
    else:
        last = Counter(float(curve.step[-1]) for curve in usable).most_common(1)[0][0]
    return max((curve for curve in usable if float(curve.step[-1]) == last), key=len)


def _in_order(curve: Curve) -> bool:
    wall = curve.wall
    if wall is None or not bool(np.all(np.isfinite(wall)) and np.all(np.isfinite(curve.step))):
        return False
    ordered = bool(np.all(np.diff(wall) >= 0) and np.all(np.diff(curve.step) >= 0))
    return ordered and bool(wall[-1] > wall[0]) and bool(curve.step[0] >= 0)


def _steps_at(curve: Curve, reference: Curve) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    assert curve.wall is not None
    assert reference.wall is not None
    return np.interp(curve.wall, reference.wall, reference.step)


def _rows_at(curve: Curve, reference: Curve) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the step of the row of `reference` nearest to each point, or between rows where points would coincide."""
    between = _steps_at(curve, reference)
    place = np.searchsorted(reference.step, between).clip(1, len(reference) - 1)
    lower, upper = reference.step[place - 1], reference.step[place]
    nearest = np.where(between - lower < upper - between, lower, upper)
    return nearest if np.unique(nearest).size == nearest.size else between


def _apart(curve: Curve, reference: Curve) -> bool:
    """Whether the steps of `curve` differ from those of `reference` at the same moments, by a factor of `APART`."""
    if not _in_order(curve):
        return False
    ratio = (curve.step + 1.0) / (_steps_at(curve, reference) + 1.0)
    return bool(np.median(np.abs(np.log(ratio))) > np.log(APART))
