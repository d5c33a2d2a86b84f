"""Trackers that number rows by themselves (W&B, Trackio) while the run logs its real step beside the metrics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..readers.step_axis import BARE_NAMES, plain
from ..runlog import Recording
from ..series import Curve, Floats
from .tidy import row_axis

COVERED = 0.9
"""Share of rows that must say their real step before it replaces the row number."""


def with_real_steps(recording: Recording) -> Recording:
    """Return `recording` on the step axis that it logs itself, when its own steps are mere row numbers."""
    key = next((key for key in recording.curves if plain(key) in BARE_NAMES - {"step"}), "")
    if recording.clock or not key:
        return recording
    axis = recording.curves[key]
    rows = row_axis(list(recording.curves.values()))
    if rows.size < 2 or not _counts_rows(rows) or not _usable(axis, rows):
        return recording

    def real(positions: Floats) -> Floats:
        place = np.searchsorted(axis.step, positions, side="right") - 1
        return axis.value[np.clip(place, 0, len(axis) - 1)]

    curves = {
        name: Curve(real(curve.step), curve.value, curve.wall)
        for name, curve in recording.curves.items()
        if name != key
    }
    events = [replace(event, at=float(real(np.array([event.at]))[0])) for event in recording.events]
    return replace(recording, curves=curves, events=events)


def _counts_rows(rows: Floats) -> bool:
    return int(np.count_nonzero(np.diff(rows) == 1.0)) >= COVERED * (rows.size - 1)


def _usable(axis: Curve, rows: Floats) -> bool:
    if len(axis) < COVERED * rows.size or not bool(np.all(np.isfinite(axis.value))):
        return False
    ordered = bool(np.all(np.diff(axis.step) > 0)) and bool(np.all(np.diff(axis.value) >= 0))
    return ordered and bool(axis.value[-1] > axis.value[0]) and not np.array_equal(axis.value, axis.step)
