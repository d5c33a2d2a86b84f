"""firstbreak's own record (`firstbreak.monitor.record`): one file a process, merged by rank and in order of opening.

Order comes from the numbers of files and lines, never from clocks. Damaged lines are passed over and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..errors import InputError
from ..runlog import CLOCKS, Event, Problem, Recording
from ..series import Curve, Floats
from ..vocabulary import with_algorithm
from .columns import Columns
from .protocol import Options, Reader
from .record_line import FORMAT, NAME, unseal
from .record_parts import RecordPart, merged
from .textfile import head, modified, unreadable

MAX_LINE = 64 << 20
PROGRESS_LINES = 4096
START = re.compile(rb'\{"seq":0,"kind":"start","format":"firstbreak\.record/')
ENDINGS = ("finished", "crashed")
ROLLED_BACK = "roll_back"
"""Name of the event that the run was put back to what it was after the row at its step."""


def sniff(path: Path) -> float:
    """Say how surely `path` is a part of a record, from its first bytes, else from its name."""
    if path.suffix != ".jsonl":
        return 0.0
    if START.match(head(path, 256)):
        return 1.0
    return 0.9 if NAME.fullmatch(path.name) else 0.0


@dataclass
class _Rows:
    """Rows of metrics, each with its step, wall time and clock."""

    columns: Columns = field(default_factory=Columns)
    steps: list[float] = field(default_factory=list[float])
    walls: list[float] = field(default_factory=list[float])
    clocks: list[str] = field(default_factory=list[str])
    cuts: list[tuple[int, float]] = field(default_factory=list[tuple[int, float]])
    """Roll-backs: of so many rows, those after that step were undone."""

    def add(self, line: dict[str, Any]) -> None:
        cells = _dict(line.get("metrics"))
        self.steps.append(_number(line.get("step")))
        self.walls.append(_number(line.get("wall")))
        self.clocks.append(str(line.get("clock", "")))
        self.columns.add(("", *cells), [0.0, *cells.values()])  # an empty row counts as a row too


def read(path: Path, options: Options) -> Recording:
    """Read one part; what a crash or a disk damaged is passed over and reported."""
    match = NAME.fullmatch(path.name)
    part = RecordPart(str(path), READER.name, modified=modified(path))
    if match:
        part.rank, part.number = match["rank"], int(match["part"])
    rows = _Rows()
    bad: list[int] = []
    number, torn = 0, False
    for number, raw in enumerate(_lines(path, options), 1):
        line = unseal(raw)
        if line is None:
            bad.append(number)
            torn = not raw.endswith(b"\n")
        elif line.get("kind") == "start":
            _begin(part, line)
        elif isinstance(line.get("seq"), int) and line["seq"] > part.last_seq:
            part.last_seq = line["seq"]
            part.lines += 1
            _take(part, rows, line)
    if len(bad) == number:
        raise InputError(f"{path}: no whole line of a record in it.", "It was cut off or damaged; use another part.")
    part.config = with_algorithm(part.config, part.algorithm)
    part.damaged = len(bad)
    _finish(part, rows)
    _report(part, bad, torn=torn, last=number)
    return part


def _lines(path: Path, options: Options) -> Iterator[bytes]:
    done = 0
    try:
        total = path.stat().st_size
        with path.open("rb") as stream:
            for number in count(1):
                raw = stream.readline(MAX_LINE)
                if not raw:
                    return
                done += len(raw)
                if number % PROGRESS_LINES == 0:
                    options.progress(done, total)
                yield raw
    except OSError as error:
        raise unreadable(path, error) from error


def _begin(part: RecordPart, line: dict[str, Any]) -> None:
    """Take what the first line says of the process and of the run."""
    if line.get("format") != FORMAT:
        what = f"it is of the format {str(line.get('format'))[:40]!r}, newer than what is known here."
        part.problems.append(Problem(part.path, "line 1", what, "Update firstbreak if numbers are missing."))
    part.process = str(line.get("process", ""))
    part.beside = tuple(str(name) for name in _list(line.get("beside")))
    part.run_name, part.framework = str(line.get("run", "")), str(line.get("framework", ""))
    clock = str(line.get("clock", ""))
    part.clock = clock if clock in CLOCKS else ""
    if isinstance(line.get("rank"), int):
        part.rank = str(line["rank"])
    part.algorithm = str(line.get("algorithm") or "")
    if part.algorithm:
        part.config.setdefault("algorithm", part.algorithm)


def _take(part: RecordPart, rows: _Rows, line: dict[str, Any]) -> None:
    kind = line.get("kind")
    if kind == "metrics":
        rows.add(line)
    elif kind == "config":
        part.config.update(_dict(line.get("config")))
    elif kind == "event":
        event = Event(str(line.get("name", "")), _number(line.get("at")), str(line.get("text", "")))
        part.events.append(event)
        part.ended = event.name if event.name in ENDINGS else part.ended
        if event.name == ROLLED_BACK and np.isfinite(event.at):
            rows.cuts.append((len(rows.steps), event.at))
            part.undo(event.at)
    elif kind == "fault":
        part.faults.append((_number(line.get("at")), str(line.get("text", ""))))
    elif kind == "alarm":
        found = _dict(line.get("finding"))
        text = f"{found.get('name', '')}: {found.get('message', '')}"
        part.events.append(Event("alarm", _number(line.get("at")), text))
    elif kind == "batch":
        part.batches.append((_number(line.get("step")), str(line.get("fingerprint", ""))))
    elif kind == "rollout" and (versions := _list(line.get("versions"))):
        ages = _number(line.get("current")) - np.array([_number(version) for version in versions])
        if bool(np.isfinite(ages).all()):  # without the version being trained nothing follows
            part.ages.append((_number(line.get("step")), float(ages.mean()), float(ages.max())))


def _dict(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []


def _number(value: Any) -> float:
    """Return a number, also where it is written as a text (`"nan"`), NaN where there is none."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _finish(part: RecordPart, rows: _Rows) -> None:
    """Turn the rows into curves."""
    columns = rows.columns
    columns.flush()
    steps = _on_one_clock(np.array(rows.steps), rows.clocks, part)
    walls = np.array(rows.walls)
    finite = np.isfinite(walls)
    if np.any(np.diff(walls[finite]) < 0):
        what = "the clock of the machine went back while it was written; the order is that of the lines."
        part.problems.append(Problem(part.path, "", what))
        walls[finite] = np.maximum.accumulate(walls[finite])
    stay = np.ones(steps.size, dtype=bool)
    for key in columns.keys if rows.cuts else ():
        places, values = columns.column(key)
        part.proven[key] = begun(values[places < rows.cuts[0][0]])
    for before, step in rows.cuts:
        stay[:before] &= ~(steps[:before] > step)
    for key in columns.keys:
        places, values = columns.column(key)
        places, values = places[stay[places]], values[stay[places]]
        if key and places.size:
            part.curves[key] = Curve(steps[places], values, walls[places] if finite.all() else None)
    known = steps[np.isfinite(steps)]
    part.first = float(known[0]) if known.size else float("nan")
    if columns.thinned > 1:
        what = f"the file is very large: of the longest columns one point in {columns.thinned} was kept."
        part.problems.append(Problem(part.path, "", what))


def begun(values: Floats) -> int:
    """Return how many numbers [n] are finite before the first that is not."""
    odd = np.flatnonzero(~np.isfinite(values))
    return int(odd[0]) if odd.size else int(values.size)


def _on_one_clock(steps: Floats, clocks: Sequence[str], part: RecordPart) -> Floats:
    """Return the steps [n]; rows that count something else stand at the newest step of the run's own clock."""
    own = part.clock or max(sorted(set(clocks)), key=clocks.count, default="")
    foreign = np.array([clock not in ("", own) for clock in clocks], dtype=bool)
    if not part.clock and own in CLOCKS:
        part.clock = own
        foreign |= np.array([clock == "" for clock in clocks], dtype=bool)
    if not foreign.any() or foreign.all():
        return steps
    native = np.flatnonzero(~foreign)
    place = np.searchsorted(native, np.arange(steps.size), side="right") - 1
    return np.where(foreign, steps[native[np.maximum(place, 0)]], steps)


def _report(part: RecordPart, bad: list[int], *, torn: bool, last: int) -> None:
    if torn and bad and bad[-1] == last:
        bad = bad[:-1]
        what = "the last line is cut off; the lines before it were kept."
        part.problems.append(Problem(part.path, f"line {last}", what))
    if bad:
        what = f"{len(bad)} lines are damaged (their checksum is wrong) and were passed over."
        part.problems.append(Problem(part.path, f"line {bad[0]}", what, "Check the disk."))


READER = Reader("record", "firstbreak record", sniff, read, rank=65, combine=merged)
