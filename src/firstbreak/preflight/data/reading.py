"""The rows of a data file, one at a time: JSON lines, CSV and Parquet; what cannot be read is counted, not raised."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from ...errors import InputError, UnreadableError, missing_extra
from ...readers.protocol import Options
from ...readers.textfile import MAX_LINE, TextFile

Row = dict[str, Any]
LINES = frozenset({".jsonl", ".ndjson", ".jsonlines", ".json"})
TABLES = {".csv": ",", ".tsv": "\t"}
WHOLE_JSON_BYTES = 256 << 20
"""Largest .json file that is one list; it must be held in memory to be read at all."""
PARQUET_ROWS = 512
"""Rows of a Parquet file held at a time."""


class Rows:
    """The rows of `path`, with their numbers from 1. Iterate once, then ask what was `unreadable`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.unreadable: list[int] = []
        """Numbers of the first rows that could not be read."""
        self.unreadable_rows = 0

    def __iter__(self) -> Iterator[tuple[int, Row]]:
        if not self.path.is_file():
            what = "a folder" if self.path.is_dir() else "no such file"
            raise UnreadableError(f"{self.path}: {what}.", "Give the path of a JSONL, CSV or Parquet file.")
        for number, row in enumerate(self._rows(), 1):
            if row is None:
                self.unreadable_rows += 1
                if len(self.unreadable) < 10:
                    self.unreadable.append(number)
            else:
                yield number, row

    def _rows(self) -> Iterator[Row | None]:
        ending = self.path.suffix.lower()
        if ending == ".parquet":
            return _parquet(self.path)
        if ending in (*TABLES, *LINES):
            _text(self.path)
        if ending in TABLES:
            return _table(self.path, TABLES[ending])
        if ending in LINES:
            return _whole(self.path) if ending == ".json" and _is_list(self.path) else _lines(self.path)
        raise InputError(
            f"{self.path}: data files end in .jsonl, .json, .csv, .tsv or .parquet.",
            "Save the data set as JSON lines, one object a line.",
        )


def _text(path: Path) -> None:
    try:
        with path.open("rb") as stream:
            start = stream.read(4096)
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}.", "May you read it?") from error
    if b"\0" in start and start.decode("utf-8", "replace").count("\ufffd") > 1:  # not a torn line, nor a cut letter
        raise InputError(f"{path}: not UTF-8 text.", "Give a JSONL, CSV or Parquet file, its text in UTF-8.")


def _object(text: str) -> Row | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast(Row, found) if isinstance(found, dict) else None


def _lines(path: Path) -> Iterator[Row | None]:
    file = TextFile(path, Options())
    for line in file:
        if line.strip():
            yield _object(line)
    for _ in range(file.overlong):
        yield None


def _is_list(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")


def _whole(path: Path) -> Iterator[Row | None]:
    if path.stat().st_size > WHOLE_JSON_BYTES:
        raise InputError(
            f"{path}: one JSON list of more than {WHOLE_JSON_BYTES >> 20} MiB.",
            "Write it as JSON lines, one object a line; that can be read in bounded memory.",
        )
    try:
        found = json.loads(path.read_text("utf-8-sig", errors="replace"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not valid JSON: {type(error).__name__}.", "Write it as JSON lines.") from error
    for one in cast("list[Any]", found):
        yield cast(Row, one) if isinstance(one, dict) else None


def _table(path: Path, delimiter: str) -> Iterator[Row | None]:
    before = csv.field_size_limit(MAX_LINE)
    try:
        header: list[str] | None = None
        cells = csv.reader((line.replace("\0", "") for line in TextFile(path, Options())), delimiter=delimiter)
        while True:
            try:
                values = next(cells)
            except StopIteration:
                return
            except csv.Error:
                yield None
                continue
            if not values:
                continue
            if header is None:
                header = [name.strip() for name in values]
            else:
                yield dict(zip(header, values, strict=True)) if len(values) == len(header) else None
    finally:
        csv.field_size_limit(before)


def _parquet(path: Path) -> Iterator[Row | None]:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise missing_extra("pyarrow", "parquet", f"Reading {path}") from error
    try:
        file: Any = cast(Any, parquet).ParquetFile(path)
        for batch in file.iter_batches(batch_size=PARQUET_ROWS):
            yield from batch.to_pylist()
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not a readable Parquet file.", "Was it written completely?") from error
