"""The rows of a file of JSON lines as objects, and as samples."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from ..sample import NAN, Sample
from .build import Builder, NoSampleError
from .lines import lines_of
from .protocol import Source

Row = dict[str, Any]
OVERLONG = "a line longer than 64 MiB, passed over without loading it"
LINES_SNIFFED = 20
_STEP = re.compile(r"(?:^|[^a-z])step[ _-]?(\d{1,9})(?!\d)", re.IGNORECASE)
FOLDERS = 3
"""Folders above a file whose names may say which step it is of."""
_COLUMN = re.compile(rb'"([A-Za-z_][\w./-]{0,60})"\s*:')
ENDINGS = (".jsonl", ".ndjson", ".jsonlines", ".json")


def ending(path: Path) -> str:
    """Return the ending of a file's name without the one of its packing."""
    name = path.name.lower()
    return Path(name.removesuffix(".gz")).suffix


def stem(path: Path) -> str:
    """Return the name of a file without its endings."""
    name = path.name.removesuffix(".gz")
    return name[: -len(Path(name).suffix)] if Path(name).suffix else name


def columns_in(head: bytes) -> frozenset[str]:
    """Return the columns of the first object among the first lines of a file.

    Where no line ends within its head, or none can be read, the names that look like columns of the first line.
    """
    lines = head.removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n", LINES_SNIFFED)[:LINES_SNIFFED]
    for line in lines:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return frozenset(cast(Row, found))
    return frozenset(name.decode("utf-8", "replace") for name in _COLUMN.findall(lines[0]))


def step_named(path: Path) -> float:
    """Return the step that a file's name, or that of a folder just above it, says; NaN where none does.

    >>> step_named(Path("rollouts/step_12/traces.jsonl")), step_named(Path("a/global-step3.jsonl"))
    (12.0, 3.0)
    """
    for part in (path.name, *reversed(path.parts[:-1][-FOLDERS:])):
        found = _STEP.findall(part)
        if found:
            return float(found[-1])
    return NAN


def is_lines(path: Path) -> bool:
    """Whether the ending of a file's name is one of JSON lines."""
    return ending(path) in ENDINGS


def objects(source: Source) -> Iterator[tuple[int, Row]]:
    """Yield the rows of JSON lines with their places, from 0; blank lines have none. Counts what is no object."""
    report = source.report
    place = -1
    for line in lines_of(source.path, lambda why: report.note(f"{source.name}: {why}")):
        if line is not None and not line.strip():
            continue
        place += 1
        if line is None:
            report.refuse(source.name, place, OVERLONG)
            continue
        row, why = _parsed(line, source)
        if row is None:
            report.refuse(source.name, place, why)
        else:
            yield place, row


def _parsed(line: bytes, source: Source) -> tuple[Row | None, str]:
    try:
        words = line.decode()
    except UnicodeDecodeError:
        words = line.decode("utf-8", "replace")
        source.report.mended["bytes that are not valid UTF-8 were replaced"] += 1
    try:
        found = json.loads(words)
    except RecursionError:
        return None, "nested too deeply"
    except ValueError:
        return None, "not valid JSON (cut off, or not JSON lines)"
    return (cast(Row, found), "") if isinstance(found, dict) else (None, "valid JSON, but not an object")


def samples(
    source: Source, rows: Iterator[tuple[int, Row]], shape: Callable[[Row], Mapping[str, Any]], *, spelled: bool = False
) -> Iterator[Sample]:
    """Yield a sample for each row.

    Args:
        source: The file.
        rows: Its rows with their places.
        shape: Gives a row the usual names before its columns are told by name.
        spelled: Whether all cells are text.
    """
    builder = Builder(source.report, source.columns, spelled=spelled)
    named = step_named(source.path)
    for place, row in rows:
        try:
            sample = builder.build(shape(row), place, source.name, named)
        except NoSampleError as error:
            source.report.refuse(source.name, place, str(error))
            continue
        source.report.accept(source.name)
        yield sample


def as_is(row: Row) -> Row:
    """Return the row unchanged."""
    return row
