"""How large each fault of the ninth live campaign is in each subject: what ninth.toml says, or a trial."""

from __future__ import annotations

import tomllib
from pathlib import Path

LIST = Path(__file__).resolve().parent / "ninth.toml"
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
