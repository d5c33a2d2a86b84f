"""Trackio databases (SQLite), opened read-only. One database holds every run of a project."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from ..errors import InputError, UnreadableError
from ..runlog import Event, Problem, Recording
from .points import NotJsonError, Points, parse_json
from .protocol import Options, Reader

MAGIC = b"SQLite format 3\0"
NEEDED = {"timestamp", "run_name", "step", "metrics"}
PROGRESS_EVERY = 5000


def sniff(path: Path) -> float:
    """Say how surely `path` is a Trackio database: an SQLite file whose `metrics` table has Trackio's columns."""
    try:
        with path.open("rb") as stream:
            if stream.read(16) != MAGIC:
                return 0.0
        with closing(_connect(path)) as base:
            return 1.0 if _columns(base, "metrics") >= NEEDED else 0.0
    except (OSError, sqlite3.Error, InputError):
        return 0.0


def runs(path: Path) -> list[str]:
    """Return the names of the runs in the database, in the order in which they began."""
    with closing(_open(path)) as base:
        return _run_names(path, base)


def read(path: Path, options: Options) -> Recording:
    """Read the first run; a `Problem` names the others. `read_all` reads them all."""
    with closing(_open(path)) as base:
        names = _run_names(path, base)
        recording = _read_run(path, base, names[0], options)
    if len(names) > 1:
        others = ", ".join(names[1:4]) + (", ..." if len(names) > 4 else "")
        what = f"only the run {names[0]!r} was read; the database holds {len(names) - 1} more: {others}."
        recording.problems.append(Problem(str(path), "", what))
    return recording


def read_all(path: Path, options: Options) -> list[Recording]:
    """Read every run of the database."""
    with closing(_open(path)) as base:
        return [_read_run(path, base, name, options) for name in _run_names(path, base)]


def _connect(path: Path) -> sqlite3.Connection:
    """Open `path` read-only; where that fails (a folder without write access), as a file that does not change."""
    place = quote(str(path.resolve()))
    # A database in write-ahead mode without its log has no writer. Opened plainly, SQLite would put files beside it.
    at_rest = not path.with_name(path.name + "-wal").exists()
    failure: sqlite3.Error | None = None
    for mode in ("mode=ro&immutable=1",) if at_rest and _write_ahead(path) else ("mode=ro", "mode=ro&immutable=1"):
        base = None
        try:
            base = sqlite3.connect(f"file:{place}?{mode}", uri=True, timeout=2.0)
            base.text_factory = _decode
            base.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return base
        except sqlite3.Error as error:
            failure = error
            if base is not None:
                base.close()
    raise failure or sqlite3.Error("cannot open")


def _decode(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _write_ahead(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(20)[18:] == b"\2\2"  # read and write version of the file header


def _open(path: Path) -> sqlite3.Connection:
    try:
        with path.open("rb") as stream:
            if stream.read(16) != MAGIC:
                raise InputError(f"{path} is not an SQLite database.", "Give the .db file of a Trackio project.")
    except OSError as error:
        raise UnreadableError(f"Cannot read {path}: {error.strerror or error}.", "Check its permissions.") from error
    try:
        base = _connect(path)
        try:
            if _columns(base, "metrics") >= NEEDED:
                return base
        except sqlite3.Error:
            base.close()
            raise
    except sqlite3.Error as error:
        raise InputError(f"{path} is a damaged SQLite database: {error}.", "Restore it from a copy.") from error
    base.close()
    raise InputError(
        f"{path} is an SQLite database but not Trackio's: no table metrics(step, timestamp, run_name, metrics).",
        "Give the .db file of a Trackio project.",
    )


def _columns(base: sqlite3.Connection, table: str) -> set[str]:
    return {str(row[0]) for row in base.execute("SELECT name FROM pragma_table_info(?)", (table,))}


def _run_names(path: Path, base: sqlite3.Connection) -> list[str]:
    try:
        rows = base.execute("SELECT run_name FROM metrics GROUP BY run_name ORDER BY min(rowid)").fetchall()
    except sqlite3.Error as error:
        raise InputError(f"{path} is a damaged SQLite database: {error}.", "Restore it from a copy.") from error
    if not rows:
        raise InputError(f"{path} holds no run yet: its table metrics is empty.", "Wait until the run has logged.")
    return [_name(row[0]) for row in rows]


def _name(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _read_run(path: Path, base: sqlite3.Connection, name: str, options: Options) -> Recording:
    recording = Recording(path=str(path), reader="trackio", run_name=name, modified=_modified(path))
    points = Points()
    not_json = 0
    last = 0.0
    total = path.stat().st_size
    for count, (step, stamp, metrics) in enumerate(_rows(base, "metrics", "step, timestamp, metrics", name, recording)):
        last = _step(step, last)
        not_json += not _take_row(points, last, _seconds(stamp), metrics)
        if count % PROGRESS_EVERY == 0:
            options.progress(min(count * 200, total), total)
    _take_system(base, name, points, recording)
    _take_config(base, name, recording)
    for step, title, said in _rows(base, "alerts", "step, title, text", name, recording):
        words = ": ".join(str(part) for part in (title, said) if part)
        recording.events.append(Event("alert", _step(step, last), words))
    recording.curves = points.curves()
    recording.texts.update(points.texts)
    if not_json:
        recording.problems.append(Problem(str(path), f"run {name}", f"{not_json} rows are not JSON objects."))
    recording.problems.extend(Problem(str(path), f"run {name}", said) for said in points.unread_sentences())
    return recording


def _rows(
    base: sqlite3.Connection, table: str, columns: str, name: str, recording: Recording
) -> Iterator[tuple[Any, ...]]:
    """Yield `columns` of the rows of one run, in the order written; a missing table or column yields nothing."""
    wanted = {column.strip() for column in columns.split(",")} | {"run_name"}
    try:
        if not _columns(base, table) >= wanted:
            return
        # Table and column names are constants of this module.
        query = f"SELECT {columns} FROM {table} WHERE CAST(run_name AS TEXT) = ? ORDER BY rowid"  # noqa: S608
        yield from base.execute(query, (name,))
    except (sqlite3.Error, OverflowError) as error:
        what = f"the table {table} is damaged ({error}); what came before was kept."
        recording.problems.append(Problem(recording.path, f"run {name}", what))


def _take_row(points: Points, step: float, wall: float, metrics: Any) -> bool:
    if not isinstance(metrics, (str, bytes)):
        return False
    try:
        row = parse_json(metrics)
    except NotJsonError:
        return False
    if not isinstance(row, dict):
        return False
    for key, value in cast(dict[str, Any], row).items():
        if type(value) is float:
            points.add(key, step, wall, value)
        else:
            points.add_json(key, step, wall, value)
    return True


def _take_system(base: sqlite3.Connection, name: str, points: Points, recording: Recording) -> None:
    """Take system metrics, which have a time but no step: each stands at the last step logged before it."""
    rows = list(_rows(base, "system_metrics", "timestamp, metrics", name, recording))
    if not rows:
        return
    clock = sorted(
        (_seconds(stamp), _step(step, 0.0))
        for step, stamp in _rows(base, "metrics", "step, timestamp", name, recording)
    )
    place = 0
    for stamp, metrics in sorted(rows, key=lambda row: _seconds(row[0])):
        wall = _seconds(stamp)
        while place + 1 < len(clock) and clock[place + 1][0] <= wall:
            place += 1
        parsed = Points()
        _take_row(parsed, clock[place][1] if clock else 0.0, wall, metrics)
        for key, curve in parsed.curves().items():
            points.add(f"system.{key}", float(curve.step[0]), wall, float(curve.value[0]))


def _take_config(base: sqlite3.Connection, name: str, recording: Recording) -> None:
    for (config,) in _rows(base, "configs", "config", name, recording):
        try:
            found = parse_json(config) if isinstance(config, (str, bytes)) else None
        except NotJsonError:
            found = None
        if isinstance(found, dict):
            members = cast(dict[str, Any], found)
            recording.config.update({key: value for key, value in members.items() if not key.startswith("_")})


def _step(value: Any, otherwise: float) -> float:
    return float(value) if isinstance(value, (int, float)) else otherwise


def _seconds(stamp: Any) -> float:
    """Return an ISO 8601 time as seconds since the epoch; times without a zone are UTC, as Trackio writes them."""
    try:
        moment = datetime.fromisoformat(stamp)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _modified(path: Path) -> float:
    """Return when the database or its write-ahead log last changed."""
    times: list[float] = []
    for file in (path, path.with_name(path.name + "-wal")):
        try:
            times.append(file.stat().st_mtime)
        except OSError:
            continue
    return max(times, default=0.0)


READER = Reader(name="trackio", title="Trackio database", sniff=sniff, read=read, read_all=read_all, rank=60)
