"""The rows of a Parquet file, a few hundred at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from ...errors import InputError, missing_extra
from ...preflight.data.reading import PARQUET_ROWS
from .protocol import Source
from .rows import Row


def columns_of(path: Path) -> list[str] | None:
    """Return the columns of a file, None when pyarrow is not there or the file cannot be read."""
    try:
        from pyarrow import parquet

        return list(cast(Any, parquet).read_schema(path).names)
    except Exception:  # a damaged file raises what it likes; reading it reports why
        return None


def numbers_in(path: Path) -> list[str]:
    """Return the columns that hold numbers, truths not among them; none when the file cannot be read."""
    try:
        from pyarrow import parquet, types

        schema = cast(Any, parquet).read_schema(path)
        kinds = cast(Any, types)
        return [f.name for f in schema if kinds.is_floating(f.type) or kinds.is_integer(f.type)]
    except Exception:  # as above
        return []


def rows_of(source: Source, columns: list[str] | None = None) -> Iterator[tuple[int, Row]]:
    """Yield the rows with their places, of all columns or some.

    Raises:
        InputError: not a readable Parquet file.
        MissingExtraError: pyarrow is not there.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise missing_extra("pyarrow", "parquet", f"Reading {source.path}") from error
    place = -1
    damaged = cast("type[Exception]", cast(Any, pyarrow).ArrowException)
    try:
        with cast(Any, parquet).ParquetFile(source.path) as file:
            for batch in file.iter_batches(batch_size=PARQUET_ROWS, columns=columns):
                for row in batch.to_pylist():
                    place += 1
                    yield place, row
    except (OSError, ValueError, damaged) as error:
        if place < 0:
            raise InputError(f"{source.path}: not a readable Parquet file.", "Was it written completely?") from error
        source.report.note(f"{source.name}: damaged; what follows row {place} could not be read")
