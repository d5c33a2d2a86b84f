"""How often the private set was looked at, from a ledger of looks."""

from __future__ import annotations

from pathlib import Path

from ..errors import UnreadableError
from ..evaluation.ledger.looks import budget_of, looks_of
from ..evaluation.ledger.store import Ledger
from .evidence import Looks

PRIVATE = "private_test"


def read_looks(path: str | Path) -> Looks:
    """Return the looks at the private set that a ledger holds, and whether the ledger is whole.

    Raises:
        UnreadableError: there is no ledger.
    """
    place = Path(path)
    if not place.is_file():
        raise UnreadableError(f"{path}: no such file.", "Give the ledger that `firstbreak eval` keeps.")
    ledger = Ledger(place)
    faults = tuple(ledger.faults())
    if faults:  # what such a ledger says is not counted, and may not even be readable
        return Looks(0, None, faults)
    entries = ledger.entries()
    looks = [look for look in looks_of(entries) if look.split == PRIVATE]
    protocols = tuple(dict.fromkeys(look.protocol_hash for look in looks))
    return Looks(len(looks), budget_of(entries, PRIVATE), protocols=protocols)
