"""Rows of metrics from lines of JSON: nested objects become keys joined by a slash."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

from ..runlog import Problem
from .columns import Columns
from .protocol import Options
from .textfile import TextFile

MAX_NESTING = 20
_NESTED: frozenset[type] = frozenset({dict, list})
Row = dict[str, Any]


def flatten(row: Row) -> Row:
    """Return `row` without nesting; lists are left out."""
    if _NESTED.isdisjoint(map(type, row.values())):
        return row
    flat: Row = {}
    _flatten(row, "", flat, 0)
    return flat


def _flatten(row: Row, prefix: str, flat: Row, depth: int) -> None:
    for key, value in row.items():
        if isinstance(value, dict):
            if depth < MAX_NESTING:
                _flatten(cast(Row, value), f"{prefix}{key}/", flat, depth + 1)
        elif not isinstance(value, list):
            flat[f"{prefix}{key}"] = value


def parse(line: str) -> Row | None:
    """Return the JSON object that `line` holds, or None."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return cast(Row, value) if isinstance(value, dict) else None


def objects_from(text: str, at: int) -> list[Any]:
    """Return the complete entries of the list of `text` whose first entry begins at `at`, up to its end or a cut."""
    decoder = json.JSONDecoder()
    found: list[Any] = []
    while True:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        try:
            entry, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        found.append(entry)
    return found


def read_rows(
    path: Path, options: Options, prepare: Callable[[Row], Row] = flatten
) -> tuple[Columns, list[Problem], Row]:
    """Read one JSON object a line; `prepare` flattens each. Returns the columns, problems and the last row as read."""
    text = TextFile(path, options)
    columns = Columns()
    last: Row = {}
    bad: list[int] = []
    for line in text:
        if not line.strip():
            continue
        row = parse(line)
        if row is None:
            bad.append(text.number)
            continue
        last = row
        flat = prepare(row)
        if flat:
            columns.add(tuple(flat), list(flat.values()))
    columns.flush()
    return columns, list(_bad_lines(path, bad, text.number)) + text.problems(), last


def _bad_lines(path: Path, bad: list[int], lines: int) -> Iterator[Problem]:
    if bad and bad[-1] == lines:
        bad.pop()
        yield Problem(str(path), f"line {lines}", "the last line is cut off; the lines before it were kept.")
    if bad:
        yield Problem(str(path), f"line {bad[0]}", f"{len(bad)} lines are not JSON objects and were passed over.")
