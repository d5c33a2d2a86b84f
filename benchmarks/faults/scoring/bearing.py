"""Which runs count: faults that cost true score or protocol, and healthy runs that did not collapse by themselves."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from .corpus import Entry, Fields

Place = tuple[str, str, str, str]
"""Fault, subject, task, and `start` or `midway`."""


def place_of(entry: Entry) -> Place:
    return entry.fault, entry.subject, entry.task, "midway" if entry.start_frac else "start"


def passed(folder: Path) -> set[Place] | None:
    """Return the places that the gate let through; None where the folder has no `gate.json`."""
    path = folder / "gate.json"
    if not path.exists():
        return None
    lines = [Fields(line, f"{path}, line {n}") for n, line in enumerate(json.loads(path.read_text("utf-8")))]
    return {
        (line.text("fault"), line.text("subject"), line.text("task"), line.text("start"))
        for line in lines
        if line.values.get("counts") is True
    }


def counting(entries: Sequence[Entry], let_through: set[Place] | None) -> tuple[list[Entry], int]:
    """Return the runs that count, healthy ones and those through the gate, and how many do not."""
    if let_through is None:
        return list(entries), 0
    kept = [entry for entry in entries if not entry.fault or place_of(entry) in let_through]
    return kept, len(entries) - len(kept)


def collapsed(folder: Path) -> set[str]:
    """Return the ids of runs without a fault that lost more than half of their gain all by themselves."""
    path = folder / "collapsed.json"
    if not path.exists():
        return set()
    return {Fields(line, f"{path}, line {n}").text("id") for n, line in enumerate(json.loads(path.read_text("utf-8")))}
