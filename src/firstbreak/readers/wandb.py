"""Weights & Biases run files (`run-*.wandb`), offline or online, read without the wandb package.

Field numbers: `wandb/proto/wandb_internal.proto` of wandb 0.31 (the same since 0.12).
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import InputError, UnreadableError
from ..runlog import Event, Problem, Recording
from .leveldb_log import LogReader
from .points import NotJsonError, Points, as_number, parse_json
from .protocol import Options, Reader
from .protowire import FIXED64, LENGTH, VARINT, Field, WireError, double, fields, signed, text, zigzag

MAGIC = b":W&B"
HISTORY, CONFIG, STATS, ALERT, RUN, EXIT, PREEMPTING = 2, 5, 7, 10, 17, 18, 23
VALUE_JSON = 16
AXES = ("_step", "_timestamp", "_runtime", "_wandb")
"""History keys that place a row rather than being logged by the user."""
PROGRESS_EVERY = 1000


@dataclass
class _Run:
    """What has been gathered so far, and the position of the last history row."""

    recording: Recording
    points: Points = field(default_factory=Points)
    step: float = 0.0
    started: float = math.nan
    not_json: int = 0
    not_records: int = 0


def sniff(path: Path) -> float:
    """Say how surely `path` is a `.wandb` file: its first four bytes."""
    try:
        with path.open("rb") as stream:
            head = stream.read(4)
    except OSError:
        return 0.0
    if head == MAGIC:
        return 1.0
    return 0.3 if path.suffix == ".wandb" else 0.0


def read(path: Path, options: Options) -> Recording:
    """Read one `.wandb` file; the checksum of every piece is checked."""
    run = _Run(Recording(path=str(path), reader="wandb"))
    try:
        with path.open("rb") as stream:
            if stream.read(4) != MAGIC:
                raise InputError(
                    f"{path} is not a W&B run file: it does not begin with ':W&B'.",
                    "Give the file run-*.wandb of a run folder, or wait until the run has written to it.",
                )
            stream.seek(0)
            stat = os.fstat(stream.fileno())
            log = LogReader(stream)
            for count, record in enumerate(log):
                _take_safely(record, run)
                if count % PROGRESS_EVERY == 0:
                    options.progress(stream.tell(), stat.st_size)
    except OSError as error:
        raise UnreadableError(f"Cannot read {path}: {error.strerror or error}.", "Check its permissions.") from error
    run.recording.modified = stat.st_mtime
    run.recording.curves = run.points.curves()
    run.recording.texts.update(run.points.texts)
    _report(run, log)
    return run.recording


def _report(run: _Run, log: LogReader) -> None:
    path, problems = run.recording.path, run.recording.problems
    if log.damaged:
        what = f"{log.damaged} damaged pieces were skipped; rows in them are missing."
        problems.append(Problem(path, f"byte {log.first_damage}", what))
    if log.cut_at >= 0:
        what = "the last record is incomplete: still being written or cut off."
        problems.append(Problem(path, f"byte {log.cut_at}", what, "All before it was read."))
    if run.not_records:
        problems.append(Problem(path, "", f"{run.not_records} records could not be decoded; they were left out."))
    if run.not_json:
        problems.append(Problem(path, "", f"{run.not_json} values are not JSON; they were left out."))
    problems.extend(Problem(path, "", sentence) for sentence in run.points.unread_sentences())
    if not run.recording.curves:
        problems.append(Problem(path, "", "it holds no metric (yet)."))


def _take_safely(record: bytes, run: _Run) -> None:
    try:
        for item in fields(record, 0, len(record)):
            if item.wire == LENGTH:
                _take(record, item, run)
    except WireError:
        run.not_records += 1


def _take(data: bytes, item: Field, run: _Run) -> None:
    if item.number == HISTORY:
        _take_history(data, item, run)
    elif item.number == CONFIG:
        _take_config(data, item, run)
    elif item.number == STATS:
        _take_stats(data, item, run)
    elif item.number == RUN:
        _take_run(data, item, run)
    elif item.number == EXIT:
        _take_exit(data, item, run)
    elif item.number == ALERT:
        parts = {part.number: text(data, part) for part in fields(data, item.lo, item.hi) if part.wire == LENGTH}
        said = ": ".join(part for part in (parts.get(1, ""), parts.get(2, "")) if part)
        run.recording.events.append(Event("alert", run.step, said))
    elif item.number == PREEMPTING:
        run.recording.events.append(Event("preempting", run.step))


def _take_history(data: bytes, item: Field, run: _Run) -> None:
    row: list[tuple[str, Any]] = []
    axes: dict[str, float] = {}
    for part in fields(data, item.lo, item.hi):
        if part.number == 1 and part.wire == LENGTH:
            key, value = _history_item(data, part.lo, part.hi, run)
            if key in AXES:
                number = as_number(value)
                if number is not None:
                    axes[key] = number
            else:
                row.append((key, value))
        elif part.number == 2 and part.wire == LENGTH:
            # An explicit `_step` item wins over this one.
            number = next((signed(n.value) for n in fields(data, part.lo, part.hi) if n.number == 1), 0)
            axes.setdefault("_step", float(number))
    step = run.step = axes.get("_step", run.step)
    wall = axes.get("_timestamp", run.started + axes.get("_runtime", math.nan))
    media = {key.removesuffix("._type"): value for key, value in row if key.endswith("._type")}
    for key, value in row:
        if media and (name := _medium(key, media)):
            run.points.unread.setdefault(str(media[name]), set()).add(name)
        elif type(value) is float:
            run.points.add(key, step, wall, value)
        else:
            run.points.add_json(key, step, wall, value)


def _medium(key: str, media: dict[str, Any]) -> str:
    """Return the media object (a histogram, an image, ...) that `key` is a part of, or ""."""
    return next((name for name in media if key.startswith(name + ".")), "")


def _history_item(data: bytes, lo: int, hi: int, run: _Run) -> tuple[str, Any]:
    """Return the key and the value of the item in `data[lo:hi]`; None where the value is missing or not JSON."""
    # The usual item has one nested key, then `value_json`, both shorter than 128 bytes; this is the inner loop.
    if hi - lo > 5 and data[lo] in {0x0A, 0x12} and data[lo + 1] < 0x80:
        at = lo + 2 + data[lo + 1]
        if at + 3 <= hi and data[at : at + 2] == b"\x82\x01" and data[at + 2] < 0x80 and at + 3 + data[at + 2] == hi:
            try:
                return data[lo + 2 : at].decode("utf-8", "replace"), float(data[at + 3 : hi])
            except ValueError:
                pass
    names: list[str] = []
    value: Any = None
    for part in fields(data, lo, hi):
        if part.number in {1, 2} and part.wire == LENGTH:
            names.append(text(data, part))
        elif part.number in {8, VALUE_JSON} and part.wire == LENGTH:
            value = _json(data, part, run)
        elif part.number in {4, 5, 6, 7}:
            value = _typed_value(data, part)
    return ".".join(name for name in names if name), value


def _typed_value(data: bytes, part: Field) -> Any:
    """Return a value that is not stored as JSON (newer files may hold some)."""
    if part.wire == LENGTH:
        return text(data, part)
    if part.wire == FIXED64:
        return double(data, part)
    if part.wire != VARINT:
        return None
    return float(zigzag(part.value)) if part.number == 5 else bool(part.value)


def _json(data: bytes, part: Field, run: _Run) -> Any:
    try:
        return parse_json(data[part.lo : part.hi])
    except NotJsonError:
        run.not_json += 1
        return None


def _take_config(data: bytes, whole: Field, run: _Run) -> None:
    for item in fields(data, whole.lo, whole.hi):
        if item.wire != LENGTH or item.number not in {1, 2}:
            continue
        names: list[str] = []
        value: Any = None
        for part in fields(data, item.lo, item.hi):
            if part.number in {1, 2} and part.wire == LENGTH:
                names.append(text(data, part))
            elif part.number == VALUE_JSON and part.wire == LENGTH:
                value = _json(data, part, run)
        key = ".".join(name for name in names if name)
        if item.number == 2:
            run.recording.config.pop(key, None)
        elif key and not key.startswith("_wandb"):
            run.recording.config[key] = value


def _take_stats(data: bytes, whole: Field, run: _Run) -> None:
    """Take system metrics, placed at the last history step before them; W&B names them `system.*` too."""
    wall = math.nan
    rows: list[tuple[str, Any]] = []
    for item in fields(data, whole.lo, whole.hi):
        if item.number == 2 and item.wire == LENGTH:
            wall = _timestamp(data, item)
        elif item.number == 3 and item.wire == LENGTH:
            key, value = "", None
            for part in fields(data, item.lo, item.hi):
                if part.number == 1:
                    key = text(data, part)
                elif part.number == VALUE_JSON and part.wire == LENGTH:
                    value = _json(data, part, run)
            rows.append((key, value))
    for key, value in rows:
        run.points.add_json(f"system.{key}", run.step, wall, value)


def _take_run(data: bytes, whole: Field, run: _Run) -> None:
    parts = list(fields(data, whole.lo, whole.hi))
    words = {part.number: text(data, part) for part in parts if part.wire == LENGTH and part.number in {1, 8}}
    run.recording.run_name = words.get(8) or words.get(1) or run.recording.run_name
    numbers = {part.number: part.value for part in parts if part.wire == VARINT}
    if numbers.get(18):
        run.step = float(signed(numbers.get(14, 0)))
        run.recording.events.append(Event("resume", run.step))
    for part in parts:
        if part.number == 4 and part.wire == LENGTH:
            _take_config(data, part, run)
        elif part.number == 17 and part.wire == LENGTH:
            run.started = _timestamp(data, part)


def _timestamp(data: bytes, whole: Field) -> float:
    parts = {part.number: part.value for part in fields(data, whole.lo, whole.hi) if part.wire == VARINT}
    return signed(parts.get(1, 0)) + signed(parts.get(2, 0)) * 1e-9


def _take_exit(data: bytes, whole: Field, run: _Run) -> None:
    numbers = {part.number: part.value for part in fields(data, whole.lo, whole.hi) if part.wire == VARINT}
    if not numbers.get(3):
        run.recording.ended = "crashed" if numbers.get(1) else "finished"
        run.recording.events.append(Event("end", run.step, f"exit code {signed(numbers.get(1, 0))}"))


READER = Reader(name="wandb", title="Weights & Biases run file", sniff=sniff, read=read, rank=60)
