"""TorchRL's CSVLogger: a folder `scalars` with one `step,value` file a metric, without header."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..runlog import Problem, Recording
from ..series import Curve
from .columns import Columns
from .protocol import Options, Reader
from .table import split
from .textfile import TextFile, head_lines, modified, unreadable

FOLDER = "scalars"
MAX_FILES = 20_000


def sniff(path: Path) -> float:
    """Say how surely the folder `path` is such a log: its name and its first file."""
    if path.name != FOLDER or not path.is_dir():
        return 0.0
    try:
        first = next(_files(path), None)
    except OSError:
        return 0.0
    if first is None:
        return 0.0
    lines = head_lines(first, 4096)
    return 0.95 if not lines or len(split(lines[0], ",")) == 2 else 0.0


def _files(folder: Path) -> Iterator[Path]:
    count = 0
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".csv") and count < MAX_FILES:
                count += 1
                yield Path(place, name)


def read(path: Path, options: Options) -> Recording:
    """Read every file; the key of each is its path below the folder, without the ending."""
    found = Recording(str(path), READER.name, framework="torchrl")
    try:
        for file in _files(path):
            _read_file(file, file.relative_to(path).with_suffix("").as_posix(), found, options)
    except OSError as error:
        raise unreadable(path, error) from error
    if not found.curves:
        raise InputError(f"{path}: no numbers in it.", "TorchRL's CSVLogger writes lines of step,value.")
    return found


def _read_file(file: Path, key: str, found: Recording, options: Options) -> None:
    text = TextFile(file, options)
    columns = Columns()
    bad = 0
    for line in text:
        step, comma, value = line.rstrip().partition(",")
        if comma:
            columns.add(("step", "value"), (step, value))
        elif line.strip():
            bad += 1
    columns.flush()
    found.problems.extend(text.problems())
    if bad:
        found.problems.append(Problem(str(file), "", f"{bad} lines are not step,value and were passed over."))
    found.modified = max(found.modified, modified(file))
    if not {"step", "value"} <= set(columns.keys):
        return
    steps = columns.filled("step")
    rows, values = columns.column("value")
    found.curves[key] = Curve(steps[rows], np.asarray(values))


READER = Reader("torchrl_csv", "TorchRL CSV log", sniff, read, folders=True, rank=60)
