"""How the observation moves from step to step: where it stands still, and where it jumps to a start."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .record import Record
from .trajectory import Floats, Trajectory

STILL = 1e-6
"""A step that moves no feature by more than this share of its spread stands still. Engineering default."""
FAR = 5.0
"""A jump moves a feature by this many times what nine of ten steps stay within. Engineering default."""
MARGIN = 0.1
"""Of the width of the starts, by which their box is widened. Engineering default."""
LEAST_SCALE = 1e-3
"""Of the spread of a feature: what counts as a step where it hardly ever moves. Engineering default."""

Flags = NDArray[np.bool_]


def still_steps(one: Trajectory, spread: Floats) -> Flags:
    """Return of the steps [T] whether the observation after it equals that before it; unknown for the last: False."""
    still = np.zeros(one.steps, np.bool_)
    moved = np.abs(np.diff(one.observations, axis=0))[: one.steps]
    still[: len(moved)] = (moved <= STILL * spread).all(axis=1)
    return still


def usual_step(record: Record) -> Floats:
    """Return of each feature [features] what nine of ten steps stay within."""
    moves = [np.abs(np.diff(one.observations, axis=0)) for one in record.wide if len(one.observations) > 1]
    joined = np.concatenate(moves) if moves else np.zeros((0, record.spread.size))
    joined = joined[np.isfinite(joined).all(axis=1)]
    usual = np.quantile(joined, 0.9, axis=0) if len(joined) else np.zeros(record.spread.size)
    return np.maximum(usual, LEAST_SCALE * record.spread)


def jumps_to_a_start(record: Record) -> list[tuple[int, int]]:
    """Return (place in `wide`, step) of each step that leaves far states for the box that the episodes start in."""
    starts = np.array([one.observations[0] for one in record.wide if len(one.observations)])
    low, high = np.nanmin(starts, axis=0), np.nanmax(starts, axis=0)
    edge = MARGIN * (high - low)
    usual = usual_step(record)
    alive = usual > 0
    found: list[tuple[int, int]] = []
    for place, one in enumerate(record.wide):
        inside = ((one.observations >= low - edge) & (one.observations <= high + edge)).all(axis=1)
        far = (np.abs(np.diff(one.observations[:, alive], axis=0)) > FAR * usual[alive]).any(axis=1)
        back = far & inside[1:] & ~inside[:-1]
        found += [(place, int(step)) for step in np.flatnonzero(back[: max(one.steps - 1, 0)])]
    return found
