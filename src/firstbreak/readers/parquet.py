"""Parquet tables of metrics. Needs pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, missing_extra
from ..runlog import Recording
from ..series import Floats
from .columns import Columns, Rows
from .protocol import Options, Reader
from .step_axis import recording_of
from .textfile import head, unreadable

MAGIC = b"PAR1"
BATCH_ROWS = 65_536


def sniff(path: Path) -> float:
    """Say how surely `path` is a Parquet file; whether it holds metrics is seen on reading."""
    if head(path, 4) != MAGIC:
        return 0.0
    return 0.1 if "completions" in path.name or path.parent.name == "completions" else 0.5


def read(path: Path, options: Options) -> Recording:
    """Read the columns of numbers."""
    try:
        import pyarrow
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise missing_extra("pyarrow", "parquet", f"Reading {path}") from None
    arrow: Any = pyarrow
    opened: Any = ParquetFile
    columns = Columns()
    try:
        with opened(path) as file:
            names = [field.name for field in file.schema_arrow if _numeric(arrow, field.type)]
            total = int(file.metadata.num_rows)
            for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=names):
                columns.add_block(batch.num_rows, dict(zip(names, map(_numbers, batch.columns), strict=True)))
                options.progress(columns.rows, total)
    except OSError as error:
        if error.errno is not None:
            raise unreadable(path, error) from error
        raise _broken(path, error) from error
    except Exception as error:  # a damaged file fails in many ways inside pyarrow
        raise _broken(path, error) from error
    found = recording_of(columns, path, READER.name)
    if not found.curves:
        raise InputError(f"{path}: no columns of numbers.", "A table of metrics has one row of numbers a step.")
    return found


def _broken(path: Path, error: Exception) -> InputError:
    first = (str(error).splitlines() or ["unknown"])[0][:200]
    return InputError(f"{path}: not a readable Parquet file ({first}).", "It may be cut off: write it again.")


def _numeric(arrow: Any, kind: Any) -> bool:
    types = arrow.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def _numbers(column: Any) -> tuple[Floats, Rows | None]:
    """Return the numbers [m] of one column and their rows [m]; a null is missing, a NaN is a NaN."""
    values: Floats = np.asarray(column.to_numpy(zero_copy_only=False))
    if not column.null_count:
        return values.astype(np.float64), None
    places: Rows = np.flatnonzero(np.asarray(column.is_valid().to_numpy(zero_copy_only=False)))
    return values[places].astype(np.float64), places


READER = Reader("parquet", "Parquet table", sniff, read, rank=55)
