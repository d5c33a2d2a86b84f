"""What became known after a checkpoint was written: which are unhealthy, and the roll-backs. One small file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .disk import replace as replace_file
from .ring import without_headway

LEDGER = "store.json"
_REMEMBERED = 100
"""Roll-backs that are kept on record."""


@dataclass(frozen=True)
class Ledger:
    """The names of unhealthy checkpoints, and the roll-backs, oldest first.

    Written in one go, so that a process that is killed has marked all of them or none.
    """

    unhealthy: frozenset[str] = frozenset()
    roll_backs: tuple[Mapping[str, Any], ...] = field(default=())

    def marked(self, names: Iterable[str]) -> Ledger:
        """Return the ledger with `names` marked as unhealthy."""
        return replace(self, unhealthy=self.unhealthy | frozenset(names))

    def only(self, names: Iterable[str]) -> Ledger:
        """Return the ledger without marks of checkpoints that no longer exist."""
        return replace(self, unhealthy=self.unhealthy & frozenset(names))

    def rolled_back(self, to: str, step: float, wall: float, broke_at: float | None) -> Ledger:
        """Return the ledger with one more roll-back."""
        entry = {"to": to, "step": step, "wall": wall, "broke_at": broke_at}
        return replace(self, roll_backs=(*self.roll_backs, entry)[-_REMEMBERED:])

    def in_a_row(self, to: str) -> int:
        """How many roll-backs in a row, up to now, led no further than to the checkpoint `to`."""
        return without_headway([_number(entry["to"]) for entry in self.roll_backs], _number(to))

    def write(self, folder: Path) -> None:
        """Replace the file in `folder`."""
        body = {"unhealthy": sorted(self.unhealthy), "roll_backs": list(self.roll_backs)}
        replace_file(folder / LEDGER, json.dumps({"body": body, "sha256": _seal(body)}, indent=1))


def _number(name: str) -> int:
    return int(name.rpartition("-")[2])


def read_ledger(folder: Path) -> tuple[Ledger, str]:
    """Return the ledger in `folder`, and what is wrong with it (an empty one then)."""
    try:
        found = json.loads((folder / LEDGER).read_text("utf-8"))
        body = found["body"]
        if _seal(body) != found["sha256"]:
            raise ValueError("it was changed")
        return Ledger(frozenset(body["unhealthy"]), tuple(body["roll_backs"])), ""
    except FileNotFoundError:
        return Ledger(), ""
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        return Ledger(), f"{LEDGER} cannot be read, so marks and roll-backs made so far are not known: {error}"


def _seal(body: Any) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
