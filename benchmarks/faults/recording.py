"""One recorded run: the rows that the framework logged, the true score beside them, and the file they go to."""

from __future__ import annotations

import json
import lzma
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

SCHEMA = 1
BINS = 80
"""Points of the true score that are kept."""

Cell = float | int | str


class Recording:
    """What a subject logs while it trains."""

    def __init__(self) -> None:
        self.keys: dict[str, tuple[list[Cell], list[Cell]]] = {}
        self.config: dict[str, Any] = {}
        self.guarded: dict[str, tuple[list[Cell], list[Cell]]] = {}
        """What a monitor recorded beside it."""
        self.guarded_config: dict[str, Any] = {}
        self.guard_faults: list[str] = []
        """What went wrong in the monitor."""
        self.scores: list[tuple[float, float]] = []
        """(step, true score), as it was seen from outside."""
        self.oracle: list[tuple[float, float]] = []
        """(step, the quantity that a fault of the protocol moves), where there is one."""
        self.end_step = 0.0
        """Where training ended, which may be after the last row."""
        self.start_step: float | None = None
        """Where the fault was switched on."""

    def log(self, row: Mapping[str, Any], step: float) -> None:
        """Take in a row of the log: numbers only, as a log viewer would."""
        self.end_step = max(self.end_step, float(step))
        for key, value in row.items():
            number = as_number(value)
            if number is not None:
                steps, values = self.keys.setdefault(key, ([], []))
                steps.append(plain(step))
                values.append(number)

    def truth(self) -> dict[str, Any]:
        """The true score in at most `BINS` windows."""
        step, score = binned(self.scores, BINS)
        found = {"step": step, "score": score}
        return found | {"oracle": fmean_or_none([value for _, value in self.oracle])} if self.oracle else found


def as_number(value: Any) -> Cell | None:
    """A number as JSON can hold it; None for what is none."""
    if isinstance(value, (str, bool)) or value is None:
        return None
    try:
        return plain(float(value))
    except (TypeError, ValueError):
        return None


def plain(value: float, digits: int = 7) -> Cell:
    """A finite number in 7 digits (logs are in single precision); others by name."""
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if float(value).is_integer() and abs(value) < 1e15:
        return int(value)
    return float(f"{value:.{digits}g}")


def binned(points: Sequence[tuple[float, float]], bins: int) -> tuple[list[Cell], list[Cell]]:
    """Means of consecutive points, at the step of the last of each window; as many windows as there are points."""
    if not points:
        return [], []
    parts = np.array_split(np.array(points, float), min(bins, len(points)))
    return [plain(float(part[-1, 0])) for part in parts], [plain(float(part[:, 1].mean())) for part in parts]


def fmean_or_none(values: Sequence[float]) -> Cell | None:
    """Their mean, if there are any."""
    return plain(sum(values) / len(values)) if values else None


# ---- files --------------------------------------------------------------------------------------------------------


def file_name(run_id: str) -> str:
    """The name of a run's file."""
    return run_id.replace("/", "__") + ".json.xz"


def write_run(folder: Path, run: Mapping[str, Any]) -> Path:
    """Write a run; a file of this name is either all of it or not there."""
    path = folder / file_name(run["id"])
    text = json.dumps(run, separators=(",", ":"), allow_nan=False)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_bytes(lzma.compress(text.encode(), preset=6))
    part.replace(path)
    return path


def read_run(path: Path) -> dict[str, Any]:
    """Read a run."""
    return json.loads(lzma.decompress(path.read_bytes()))


def runs_in(folder: Path) -> Iterable[Path]:
    """The files of the runs in a folder, in order."""
    return sorted(path for path in folder.glob("*.json.xz") if not path.name.startswith("."))
