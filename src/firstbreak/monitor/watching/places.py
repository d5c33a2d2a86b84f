"""What lies at the watched path, told from the files' status alone: cheap enough to ask every second."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ...readers.walk import MAX_DEPTH, SKIPPED

MAX_ENTRIES = 50_000
"""Files asked about in one look; a folder with more is watched by those."""
SIDECARS = ("-wal",)
"""What a database writes beside its file before it writes the file."""


@dataclass(frozen=True)
class Mark:
    """The status of one file: when any of it changes, the file was written or replaced."""

    size_bytes: int
    modified_ns: int
    device: int
    inode: int


class Move(StrEnum):
    """What became of a file between two looks."""

    APPEARED = "appeared"
    GONE = "gone"
    GREW = "grew"
    TOUCHED = "touched"
    TRUNCATED = "truncated"
    REPLACED = "replaced"


@dataclass(frozen=True)
class Change:
    """One file that is not as it was."""

    move: Move
    path: str


@dataclass(frozen=True)
class Sight:
    """One look: the status of every file, and why there is none."""

    marks: Mapping[str, Mark]
    trouble: str = ""


def look_at(place: Path) -> Sight:
    """Return the status of the file `place`, or of all files in the folder `place`."""
    try:
        status = os.stat(place)
    except OSError as error:
        return Sight({}, f"cannot be reached ({error.strerror})" if os.path.islink(place) else _missing(error))
    marks: dict[str, Mark] = {}
    if not os.path.isdir(place):
        marks[str(place)] = _mark(status)
        for ending in SIDECARS:
            beside = f"{place}{ending}"
            if os.path.exists(beside):
                _add(marks, beside)
        return Sight(marks)
    try:
        os.scandir(place).close()
    except OSError as error:
        return Sight({}, f"cannot be listed ({error.strerror})")
    _fill(place, marks)
    return Sight(marks)


def _missing(error: OSError) -> str:
    return "is not there" if isinstance(error, FileNotFoundError) else f"cannot be reached ({error.strerror})"


def _fill(root: Path, marks: dict[str, Mark]) -> None:
    """Add the status of every file below `root` that may hold a log."""
    waiting: list[tuple[str, int]] = [(str(root), 0)]
    seen: set[tuple[int, int]] = set()
    while waiting and len(marks) < MAX_ENTRIES:
        folder, depth = waiting.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            try:
                if not entry.is_dir():
                    _add(marks, entry.path)
                elif entry.name not in SKIPPED and depth < MAX_DEPTH:
                    status = os.stat(entry.path)
                    if (status.st_dev, status.st_ino) not in seen:
                        seen.add((status.st_dev, status.st_ino))
                        waiting.append((entry.path, depth + 1))
            except OSError:
                continue


def _add(marks: dict[str, Mark], path: str) -> None:
    try:
        marks[os.path.normpath(path)] = _mark(os.stat(path))
    except OSError:
        return


def _mark(status: os.stat_result) -> Mark:
    return Mark(status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino)


def changes(before: Mapping[str, Mark], after: Mapping[str, Mark]) -> tuple[Change, ...]:
    """Return what became of every file, by path; unchanged ones are left out."""
    found: list[Change] = []
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        if old is None or new is None:
            found.append(Change(Move.APPEARED if old is None else Move.GONE, path))
        elif (old.device, old.inode) != (new.device, new.inode):
            found.append(Change(Move.REPLACED, path))
        elif new.size_bytes < old.size_bytes:
            found.append(Change(Move.TRUNCATED, path))
        else:
            found.append(Change(Move.GREW if new.size_bytes > old.size_bytes else Move.TOUCHED, path))
    return tuple(found)
