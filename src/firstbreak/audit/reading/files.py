"""Which files below a folder are looked at: bounded, in order, never through a pipe and never twice."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator
from pathlib import Path

from ...readers.walk import MAX_DEPTH, MAX_FOLDERS, SKIPPED
from .report import ReadReport

MAX_FILES = 100_000
"""Files of one folder that are looked at. Engineering default: AReaL writes one for each task."""
DATA = (".jsonl", ".ndjson", ".jsonlines", ".json", ".csv", ".tsv", ".parquet", ".jsonl.gz", ".json.gz", ".csv.gz")
PICKLES = (".pkl", ".pickle", ".pt", ".pth", ".ckpt", ".joblib", ".npy", ".bin")
PICKLED = "a pickle: loading it could run code, so it is never opened; write its samples as JSON lines"
_DIGITS = re.compile(r"(\d+)")


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key that sorts step_2 before step_10."""
    parts = _DIGITS.split(name[:300])
    return tuple((0, int(p[:18]), p) if p.isascii() and p.isdigit() else (1, 0, p) for p in parts if p)


def data_files(root: Path, report: ReadReport) -> Iterator[Path]:
    """Yield the data files below `root` in the natural order of their names, files of a folder before its folders."""
    waiting: list[tuple[Path, int]] = [(root, 0)]
    seen: set[tuple[int, int]] = set()
    folders = 0
    while waiting:
        folder, depth = waiting.pop()
        folders += 1
        inner: list[Path] = []
        for path, is_folder in _entries(folder, seen, report):
            if not is_folder:
                yield path
            elif depth >= MAX_DEPTH:
                report.leave(f"a folder more than {MAX_DEPTH} folders deep")
            elif folders + len(waiting) + len(inner) >= MAX_FOLDERS:
                report.leave(f"a folder beyond the first {MAX_FOLDERS}")
            else:
                inner.append(path)
        waiting += [(path, depth + 1) for path in reversed(inner)]


def _entries(folder: Path, seen: set[tuple[int, int]], report: ReadReport) -> list[tuple[Path, bool]]:
    """Return the new data files and folders in `folder`, sorted."""
    found: list[tuple[Path, bool]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in itertools.islice(entries, MAX_FILES):
                kind = _look(entry, seen, report)
                if kind is not None:
                    found.append((Path(entry.path), kind))
            if next(entries, None) is not None:
                report.leave(f"files beyond the first {MAX_FILES} of a folder")
    except OSError as error:
        report.leave(f"a folder that cannot be listed ({error.strerror or type(error).__name__})")
    return sorted(found, key=lambda one: (one[1], natural(one[0].name)))


def _look(entry: os.DirEntry[str], seen: set[tuple[int, int]], report: ReadReport) -> bool | None:
    """Whether an entry is a folder (True) or a file (False) to look at; None when neither."""
    try:
        is_folder = entry.is_dir()
        if is_folder and (entry.name in SKIPPED or entry.name.startswith(".")):
            return None
        if not is_folder and not entry.is_file():
            report.leave("a pipe, socket, device or broken link, never opened")
            return None
        name = entry.name.lower()
        if not is_folder and name.endswith(PICKLES):
            report.leave(PICKLED)
            return None
        if not is_folder and (not name.endswith(DATA) or entry.name.startswith(".")):
            return None
        status = entry.stat()
    except OSError as error:
        report.leave(f"a file that cannot be looked at ({error.strerror or type(error).__name__})")
        return None
    key = (status.st_dev, status.st_ino)
    if key in seen:
        report.leave("a link to what is read already")
        return None
    seen.add(key)
    return is_folder
