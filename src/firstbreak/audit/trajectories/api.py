"""`inspect_trajectories`: what recorded episodes of control say of their environment, reward and recording."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...check import Look, look_at_all
from ...inspection import Inspection, inspection
from .details import details_of, notes_of
from .gathering import KEPT
from .reading import read_trajectories
from .record import Record, record_of


def inspect_trajectories(path: str | Path, *, tell: Callable[[Look], None] | None = None) -> Inspection:
    """Read episodes and put every check of trajectories to them.

    Args:
        path: a `.npz` file, a Minari data set, or a folder of them.
        tell: hears of each check as it ends.

    Raises:
        InputError: no file of episodes, or one that holds none.
        UnreadableError: it cannot be opened.
        MissingExtraError: a Minari data set, and h5py is not installed.
    """
    start = time.monotonic()
    seen = inspect_record(read_record(path), tell)
    return replace(seen, details={**seen.details, "seconds": round(time.monotonic() - start, 3)})


def read_record(path: str | Path, *, kept: int = KEPT) -> Record:
    """Return what is known of the episodes of `path`; `kept` of each kind stay whole, to be shown."""
    return record_of(read_trajectories(Path(path)), str(path), kept=kept)


def inspect_record(record: Record, tell: Callable[[Look], None] | None = None) -> Inspection:
    """Put every check of trajectories to episodes that were read before."""
    with np.errstate(all="ignore"):
        looks = look_at_all("trajectories", record, tell)
        details = details_of(record)
    return inspection("trajectories", record.path, looks, details=details, notes=notes_of(record))
