"""How large each fault of the eighth live campaign is in each subject: what eighth.toml says, or a trial."""

from __future__ import annotations

import tomllib
from pathlib import Path

from drawn_list import EARLIEST, LATEST

LIST = Path(__file__).resolve().parent / "eighth.toml"
FIRST, LAST = 0.4, 0.6
"""Shares of a run between which a fault begins: earlier than in the other lists, so that its harm has time."""
CHOSEN: dict[tuple[str, str], float] = {}
"""The dose by fault and subject."""


def read() -> None:
    """Fill `CHOSEN` with what the list says."""
    faults = tomllib.loads(LIST.read_text("utf-8"))["fault"] if LIST.exists() else []
    CHOSEN.update({(f["id"], subject): float(dose) for f in faults for subject, dose in f["dose"].items()})


def dose_of(fault: str, subject: str) -> float:
    """Return how large a fault is in a subject."""
    if not CHOSEN:
        read()
    return CHOSEN[fault, subject]


def earlier(share: float) -> float:
    """Return an instant that was drawn between `EARLIEST` and `LATEST` as it lies between `FIRST` and `LAST`."""
    return FIRST + (LAST - FIRST) * (share - EARLIEST) / (LATEST - EARLIEST)
