"""The history of a run that a tracking service had from TensorBoard, as it is exported from there."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

BEGAN = 1_760_000_000.0
"""Seconds since 1970 at which the first row is said to have been written."""
PACE = 1.7
"""Milliseconds a row: what the clock columns go by."""


class History:
    """One row for each step at which something was written; a column that says nothing there is empty."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.rows = folder, list[dict[str, Any]]()

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        if not self.rows or self.rows[-1]["global_step"] != step:
            clock = PACE * step / 1000
            self.rows.append(
                {"_step": len(self.rows), "_runtime": clock, "_timestamp": BEGAN + clock, "global_step": step}
            )
        self.rows[-1][tag] = float(value) if math.isfinite(value) else "NaN"  # the service's own word for it

    def row(self, step: int) -> None:
        pass

    def columns(self) -> list[str]:
        """Return every column in the order of its first value."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def close(self) -> None:
        raise NotImplementedError


class Sheet(History):
    """As a data frame writes it: a nameless first column counts rows."""

    def close(self) -> None:
        columns = self.columns()
        with (self.folder / "wandb_export.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["", *columns])
            writer.writerows([number, *(row.get(name, "") for name in columns)] for number, row in enumerate(self.rows))


class Records(History):
    """One line of JSON a row, with null for what is not there."""

    def close(self) -> None:
        columns = self.columns()
        with (self.folder / "history.jsonl").open("w", encoding="utf-8") as file:
            for row in self.rows:
                file.write(json.dumps({name: row.get(name) for name in columns}) + "\n")
