"""Recordings of what is already in memory: a dictionary of curves, rows, or a data frame."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..errors import InputError, unknown_name
from ..runlog import Recording
from ..series import Curve, Floats
from .columns import Columns, as_number
from .jsonrows import flatten
from .step_axis import STEP_NAMES, plain, recording_of

NAME = "memory"
TRAILING = 2
"""A pandas column that is NaN from some row to the end, for at least so many rows, is taken to be NaN, not missing."""


def is_frame(source: Any) -> bool:
    """Whether `source` is a data frame of pandas, polars or alike."""
    return hasattr(source, "columns") and hasattr(source, "__getitem__") and not isinstance(source, Mapping)


def from_memory(source: Any, step: str = "") -> Recording:
    """Return the recording of a dictionary, of rows, or of a data frame; `step` names the step column.

    Raises:
        InputError: it is none of these, or holds no numbers.
    """
    if is_frame(source):
        found = _from_frame(source, step)
    elif isinstance(source, Mapping):
        found = _from_curves(cast(Mapping[Any, Any], source), step)
    elif isinstance(source, Sequence) and not isinstance(source, (str, bytes)):
        found = _from_rows(cast(Sequence[Any], source), step)
    else:
        raise InputError(
            f"A {type(source).__name__} cannot be loaded.",
            "Give a path, a dictionary of curves, a list of rows (dictionaries), or a data frame.",
        )
    if not found.curves:
        raise InputError("There are no numbers in it.", "Give at least one metric with one value.")
    return found


def _table(columns: Columns, step: str) -> Recording:
    columns.flush()
    if step and step not in columns.keys:
        raise unknown_name("column", step, columns.keys)
    clock = STEP_NAMES.get(plain(step), "")
    found = recording_of(columns, Path(NAME), NAME, step=step, clock=clock)
    found.path, found.modified = NAME, 0.0
    return found


def _from_rows(rows: Sequence[Any], step: str) -> Recording:
    columns = Columns()
    for place, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InputError(f"Row {place} is a {type(row).__name__}, not a dictionary.", "Give one dictionary a step.")
        flat = flatten({str(key): value for key, value in cast(Mapping[Any, Any], row).items()})
        columns.add(tuple(flat), list(flat.values()))
    return _table(columns, step)


def _from_frame(frame: Any, step: str) -> Recording:
    names = [str(name) for name in frame.columns]
    pandas = type(frame).__module__.startswith("pandas")
    cells = [_cells(frame[name], pandas) for name in frame.columns]
    columns = Columns()
    for row in zip(*cells, strict=True):
        columns.add(tuple(names), row)
    return _table(columns, step)


def _cells(column: Any, pandas: bool) -> list[Any]:
    values: list[Any] = column.to_numpy().tolist() if pandas else column.to_list()
    if not pandas:
        return values
    # pandas writes NaN where nothing was logged. Only a stretch that reaches the end can be told to be a real NaN.
    missing = [value is None or (isinstance(value, float) and math.isnan(value)) for value in values]
    end = len(values)
    while end > 0 and missing[end - 1]:
        end -= 1
    gaps = "".join("x" if m else " " for m in missing[:end]).split(" ")
    longest = max((len(gap) for gap in gaps), default=0)
    real = end == 0 or len(values) - end >= max(TRAILING, 2 * longest + 1)
    return [None if m and not (real and i >= end) else v for i, (v, m) in enumerate(zip(values, missing, strict=True))]


def _from_curves(curves: Mapping[Any, Any], step: str) -> Recording:
    listed = {str(key): _listed(key, value) for key, value in curves.items()}
    sizes = {len(values) for values in listed.values()}
    paired = any(_is_pair(values[0]) for values in listed.values() if values)
    named = step or next((key for key in listed if plain(key) in STEP_NAMES), "")
    if named and named in listed and len(sizes) == 1 and not paired:
        columns = Columns()
        for row in zip(*listed.values(), strict=True):
            columns.add(tuple(listed), row)
        return _table(columns, step)
    if step and step not in listed:
        raise unknown_name("column", step, listed)
    found = Recording(NAME, NAME, clock="" if paired else "rows")
    for key, values in listed.items():
        if values:
            found.curves[key] = _curve(key, values)
    return found


def _listed(key: Any, value: Any) -> list[Any]:
    if isinstance(value, (int, float, str)):
        return [value]
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Sequence):
        return list(cast(Sequence[Any], value))
    raise InputError(
        f"{key!r} holds a {type(value).__name__}.", "Give each metric a sequence of numbers or of (step, value) pairs."
    )


def _is_pair(item: Any) -> bool:
    return isinstance(item, Sequence) and not isinstance(item, str) and len(cast(Sequence[Any], item)) == 2


def _curve(key: str, values: list[Any]) -> Curve:
    pairs: list[Sequence[Any]] = [
        cast(Sequence[Any], value) if isinstance(value, (list, tuple)) else (i, value) for i, value in enumerate(values)
    ]
    steps: list[float] = []
    kept: list[float] = []
    for pair in pairs:
        if len(pair) != 2:
            raise InputError(f"{key!r}: {pair!r} is not a (step, value) pair.", "Give pairs of two numbers.")
        if pair[1] is None:
            continue
        step, value = as_number(pair[0]), as_number(pair[1])
        if step is None or value is None:
            raise InputError(f"{key!r}: {pair!r} is not a number.", 'Write "nan" or "inf" where a value is not finite.')
        steps.append(step)
        kept.append(value)
    floats: Floats = np.array(kept, dtype=np.float64)
    return Curve(np.array(steps, dtype=np.float64), floats)
