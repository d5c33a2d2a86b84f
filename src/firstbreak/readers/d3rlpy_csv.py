"""d3rlpy's file logger: a folder, one `epoch,step,value` file a metric, without header; one `_grad.csv` a weight."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..runlog import Problem, Recording
from ..series import Curve
from .columns import Columns, as_number
from .protocol import Options, Reader
from .run_config import read_config
from .textfile import TextFile, head_lines, modified, unreadable

PARAMS = "params.json"
"""d3rlpy writes its settings here before the first metric."""
GRADIENTS = "_grad.csv"
"""Extremes, mean and spread of the entries of one weight's gradient: no norm can be had from them."""
LOOKED_AT = 5
PLAYS = frozenset({"time_environment_step", "rollout_return"})
"""Only a training that plays logs these; its steps are the environment's. Offline, a step is an update."""
MAX_FILES = 20_000
_CELLS = ("epoch", "step", "value")


def sniff(path: Path) -> float:
    """Say how surely the folder `path` is such a log: its settings, and files of three bare numbers a line."""
    try:
        if not path.is_dir() or not (path / PARAMS).is_file():
            return 0.0
        seen = 0
        for file in _files(path):
            lines = head_lines(file, 4096)
            cells = lines[0].split(",") if lines else []
            if len(cells) != len(_CELLS) or any(as_number(cell) is None for cell in cells):
                return 0.0
            seen += 1
            if seen == LOOKED_AT:
                break
        return 0.95 if seen else 0.0
    except OSError:
        return 0.0


def _files(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.glob("*.csv"))[:MAX_FILES]:
        if not file.name.endswith(GRADIENTS):
            yield file


def read(path: Path, options: Options) -> Recording:
    """Read every file; the key of each is its name without the ending."""
    found = Recording(str(path), READER.name, framework="d3rlpy")
    found.config, found.problems = read_config([path / PARAMS])
    if kind := found.config.get("config.type"):
        found.config["algorithm"] = str(kind).removeprefix("double_")
    try:
        for file in _files(path):
            _read_file(file, found, options)
    except OSError as error:
        raise unreadable(path, error) from error
    if not found.curves:
        raise InputError(f"{path}: no numbers in it.", "d3rlpy's file logger writes lines of epoch,step,value.")
    found.clock = "env_steps" if PLAYS & found.curves.keys() else "updates"
    return found


def _read_file(file: Path, found: Recording, options: Options) -> None:
    text = TextFile(file, options)
    columns = Columns()
    bad = 0
    for line in text:
        cells = line.strip().split(",")
        if len(cells) == len(_CELLS) and as_number(cells[1]) is not None:
            columns.add(_CELLS, cells)
        elif line.strip():
            bad += 1
    columns.flush()
    found.problems.extend(text.problems())
    if bad:
        found.problems.append(Problem(str(file), "", f"{bad} lines are not epoch,step,value and were passed over."))
    found.modified = max(found.modified, modified(file))
    if "value" in columns.keys:
        rows, values = columns.column("value")
        found.curves[file.stem] = Curve(columns.filled("step")[rows], np.asarray(values))


READER = Reader("d3rlpy_csv", "d3rlpy file log", sniff, read, folders=True, rank=60)
