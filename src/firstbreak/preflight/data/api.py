"""`inspect_data`: is a file of pairs, prompts, answers or tokens what a trainer takes it for?"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from ...check import Look, look_at_all
from ...inspection import Inspection, inspection
from .datafile import DataFile, read_data
from .reservoir import MOST_ROWS


def inspect_data(
    path: str | Path | DataFile,
    *,
    eval_path: str | Path | None = None,
    columns: Mapping[str, str] | None = None,
    eos_id: int | None = None,
    pad_id: int | None = None,
    rows: int = MOST_ROWS,
    tell: Callable[[Look], None] | None = None,
) -> Inspection:
    """Put every data check to a file. No text of the file is in the answer, only counts and row numbers.

    Args:
        path: JSON lines, CSV or Parquet; or what `read_data` returned.
        eval_path: evaluation data whose prompts must not be among it.
        columns: role -> column, where the names are not understood by themselves.
        eos_id: the token that ends a sequence; guessed from the rows when not given.
        pad_id: the token that fills up a row.
        rows: most rows looked at one by one; duplicates are counted over all.
        tell: hears of each check as it ends.

    Raises:
        InputError: the file holds no row, or no column of a known role.
        UnreadableError: there is no such file.
    """
    start = time.monotonic()
    data = path if isinstance(path, DataFile) else read_data(Path(path), columns=columns, rows=rows)
    data.eos_id, data.pad_id = eos_id, pad_id
    if eval_path is not None:
        data.held_out = read_data(Path(eval_path), rows=64)
    looks = look_at_all("data", data, tell)
    seen = len(data.samples)
    details = {
        "kind": data.kind,
        "roles": dict(data.roles),
        "rows": data.rows,
        "rows_unreadable": data.unreadable_rows,
        "rows_sampled": seen,
        "eval_rows": data.held_out.rows if data.held_out else 0,
        "seconds": round(time.monotonic() - start, 3),
    }
    notes = [] if data.complete else [f"{seen} of {data.rows} rows were looked at one by one; all were fingerprinted."]
    return inspection("data", data.path, looks, details=details, notes=notes)
