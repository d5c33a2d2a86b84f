"""`firstbreak audit` of recorded control episodes: npz files and Minari data sets."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from .inspecting import Below, show

if TYPE_CHECKING:
    from ..audit.trajectories.summary import Summary

SAMPLES_ONLY = ("reference", "labels", "column", "framework", "mask")
"""Options that speak of texts and columns."""


def holds_trajectories(path: Path) -> bool:
    """Whether `path` is to be read as episodes: such a file, or a folder with such files and no file of samples."""
    from ..audit.trajectories.reading import has_trajectories

    if not has_trajectories(path):
        return False
    if not path.is_dir():
        return True
    from ..audit.reading.api import holds_samples

    return not holds_samples(path)  # Minari keeps a metadata.json beside its episodes


def run(args: argparse.Namespace, path: Path) -> int:
    """Audit the episodes of `path` and print; return the exit status."""
    from ..audit.trajectories.api import inspect_record, read_record

    given = [name for name in SAMPLES_ONLY if getattr(args, name, None)]
    if given:
        raise InputError(f"--{given[0]} is for samples, and {path} holds trajectories.", "Leave it out.")
    record = read_record(path, kept=max(args.show, 1))
    seen = inspect_record(record)
    return show(args, [seen], _below(record.summary, args.show) if args.show else None)


def _below(summary: Summary, most: int) -> Below:
    from ..report.audit import trajectories

    rows = trajectories.shown(summary, most)
    return Below(
        partial(trajectories.render, rows), partial(trajectories.section, rows), partial(trajectories.data, rows)
    )
