"""Entries of the ledger and the chain of hashes that ties each to all before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

START = "0" * 64
"""What the first entry is tied to."""
COLUMNS = ("number", "time", "kind", "split", "subject", "protocol_hash", "body", "previous", "digest")


@dataclass(frozen=True)
class Entry:
    """One row of the ledger."""

    number: int
    """From 1, without gaps."""
    time: str
    """UTC, ISO 8601."""
    kind: str
    """look or budget."""
    split: str
    subject: str
    """What was measured: a checkpoint, a run."""
    protocol_hash: str
    body: str
    """JSON: score, noise, items, protocol, note, what the Ladder answered."""
    previous: str
    digest: str

    @property
    def right_digest(self) -> str:
        """The digest that the other columns make."""
        content = [getattr(self, name) for name in COLUMNS[:-1]]
        return hashlib.sha256(json.dumps(content, ensure_ascii=True).encode("ascii")).hexdigest()


def tied(
    number: int, time: str, kind: str, split: str, subject: str, protocol_hash: str, body: str, previous: str
) -> Entry:
    """Return the entry with its digest."""
    entry = Entry(number, time, kind, split, subject, protocol_hash, body, previous, "")
    return replace(entry, digest=entry.right_digest)


def faults_of(entries: Sequence[Entry]) -> list[str]:
    """Return what is wrong with the chain, in the order of the ledger; nothing when it is whole.

    Only what was done without making every later entry anew can show here; the head shows the rest.
    """
    faults: list[str] = []
    previous, expected = START, 1
    for entry in entries:
        if entry.number != expected:
            lost = entry.number - expected
            faults.append(f"before entry {entry.number}: {lost} deleted" if lost > 0 else f"entry {entry.number} twice")
        elif entry.previous != previous:
            faults.append(f"entry {entry.number}: not tied to the entry before it; reordered or put in later")
        if entry.digest != entry.right_digest:
            faults.append(f"entry {entry.number}: changed after it was written")
        previous, expected = entry.digest, entry.number + 1
    return faults
