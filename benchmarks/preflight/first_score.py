"""The first score of a list that was written before anybody had scored it: made once, row by row, never made again.

A row is written as soon as it is known, so that what was scored before a machine stopped stays scored; the rows become
the first score, `results/<list>_first.json`, when the last one is there, and that file is never written over.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results")
Entry = dict[str, Any]


class AlreadyScoredError(Exception):
    """The list has a first score."""


class FirstScore:
    """What is known of the first score of one list."""

    def __init__(self, family: str, folder: Path = RESULTS) -> None:
        self.path = folder / f"{family.replace('-', '_')}_first.json"
        self.part = self.path.with_suffix(".part.jsonl")

    def refuse_if_there(self) -> None:
        """Raises AlreadyScoredError where the score was made before."""
        if self.path.exists():
            raise AlreadyScoredError(
                f"{self.path.name} holds the first score of this list and is never written over; "
                "put what you score now elsewhere with --json FILE."
            )

    def rows(self) -> list[Entry]:
        """The rows known so far, in the order in which they were scored."""
        text = self.part.read_text("utf-8") if self.part.exists() else ""
        return [json.loads(line) for line in text.splitlines() if line.strip()]

    def keep(self, row: Entry) -> None:
        """Writes one row behind those that are known."""
        self.part.parent.mkdir(parents=True, exist_ok=True)
        with self.part.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def close(self, ids: Sequence[tuple[str, str]]) -> list[Entry]:
        """Makes the rows the first score, in the order of `ids` (id, kind), and returns them."""
        self.refuse_if_there()
        known = {(row["id"], row["kind"]): row for row in reversed(self.rows())}
        rows = [known[key] for key in ids]
        with self.path.open("x", encoding="utf-8") as file:
            file.write(json.dumps(rows, indent=1) + "\n")
        self.part.unlink()
        return rows
