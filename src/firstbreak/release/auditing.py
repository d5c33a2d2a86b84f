"""The reward audit of a release: samples of the released checkpoint, texts or episodes of control."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..audit.api import audit_table, read_table
from ..audit.trajectories.api import inspect_trajectories
from ..audit.trajectories.reading import has_trajectories
from ..audit.views import Shown, shown
from ..errors import InputError
from ..inspection import Inspection

SHOWN = 4
"""Samples of high, of low and of random reward that are shown, each."""
Rows = tuple[tuple[Shown, ...], ...]


def audited(samples: str | Path) -> tuple[Inspection, Rows]:
    """Return what the audit says, and the samples to show, masked: a release is handed on.

    Raises:
        InputError: nothing there is a sample.
    """
    path = Path(samples)
    if not path.exists():
        raise InputError(f"{samples}: no such file or folder.", "Give samples of the released checkpoint.")
    if has_trajectories(path):
        return replace(inspect_trajectories(path), target=path.name), ()
    table, report = read_table(path)
    seen = replace(audit_table(table, report), target=path.name)
    return seen, tuple(tuple(row) for row in shown(table, SHOWN, mask=True))
