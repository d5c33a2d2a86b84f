"""What the environments of a black-box script saw, written to files that the parent reads."""

from __future__ import annotations

import atexit
import json
import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .ledger import Ledger

FOLDER = "FIRSTBREAK_PROBE_RECORD"
"""The environment variable that names the folder of the files; without it nothing is written."""
CHUNK_STEPS = 64
"""Steps per line: what a killed script loses."""
ENDLESS = 1 << 60

_shared: dict[int, Recorder] = {}


class Recorder(Ledger):
    """A ledger that appends a line of counts to a file of its own process every `CHUNK_STEPS` steps."""

    def __init__(self, folder: Path) -> None:
        super().__init__(ENDLESS)
        self.path = folder / f"{os.getpid()}.jsonl"
        self.counts: Counter[str] = Counter()
        self.actions: list[list[float]] = []
        atexit.register(self.flush)

    def note(self, state: int, cell: int, action: Any) -> None:
        """Note one step."""
        self.steps += 1
        self.counts[f"{state},{cell}"] += 1
        self.actions.append([float(a) for a in np.asarray(action, dtype=float).reshape(-1)])
        if self.steps % CHUNK_STEPS == 0:
            self.flush()

    def flush(self) -> None:
        """Write what has been counted since the last line."""
        if self.actions:
            line = {"counts": dict(self.counts), "mean_action": np.mean(self.actions, axis=0).tolist()}
            with self.path.open("a") as file:
                file.write(json.dumps(line) + "\n")
            self.counts.clear()
            self.actions.clear()


def recorder() -> Recorder | None:
    """Return the recorder of this process, or None where nobody wants a record."""
    folder = os.environ.get(FOLDER)
    if not folder:
        return None
    if os.getpid() not in _shared:
        _shared[os.getpid()] = Recorder(Path(folder))
    return _shared[os.getpid()]


@dataclass(frozen=True)
class Record:
    """The lines of one script's environments put together."""

    steps: int = 0
    tried: dict[str, int] = field(default_factory=dict[str, int])
    late: dict[str, int] = field(default_factory=dict[str, int])
    """Counts of the last quarter of the lines of each process."""
    late_action: tuple[float, ...] = ()
    """The mean action of the last quarter [A]."""


def read_record(folder: Path) -> Record:
    """Return what is written in `folder`; torn last lines are left out."""
    tried: Counter[str] = Counter()
    late: Counter[str] = Counter()
    actions: list[list[float]] = []
    for path in sorted(folder.glob("*.jsonl")):
        lines = _lines(path)
        first_late = len(lines) - max(len(lines) // 4, 1)
        for index, line in enumerate(lines):
            tried.update(line["counts"])
            if index >= first_late:
                late.update(line["counts"])
                actions.append(line["mean_action"])
    mean = tuple(float(a) for a in np.mean(actions, axis=0)) if actions else ()
    return Record(sum(tried.values()), dict(tried), dict(late), mean)


def _lines(path: Path) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    for text in path.read_text("utf-8").splitlines():
        try:
            lines.append(json.loads(text))
        except ValueError:
            continue
    return lines
