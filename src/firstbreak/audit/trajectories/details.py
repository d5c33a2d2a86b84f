"""The tables of a report on trajectories."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .record import Record
from .trajectory import Floats
from .visiting import halves

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)


def details_of(record: Record) -> dict[str, Any]:
    """Return what a report shows beside the findings."""
    s = record.summary
    returns = s.returns[np.isfinite(s.returns)]
    rows = [_row("return", returns), _row("length in steps", s.lengths_steps.astype(np.float64))]
    columns = ["episodes", "least", "1st quarter", "median", "3rd quarter", "most"]
    tables = [{"title": f"{s.n:,} episodes", "columns": columns, "rows": rows}]
    tables += _coverage(record)
    return {
        "episodes": s.n,
        "steps": int(s.lengths_steps.sum()),
        "terminated": s.terminated,
        "truncated": s.truncated,
        "succeeded": int((record.success == 1).sum()) if (record.success >= 0).any() else None,
        "repeated": s.repeated,
        "entropy_nats": _number(s.entropy_nats),
        "tables": tables,
    }


def _coverage(record: Record) -> list[dict[str, Any]]:
    """Return the table of the states visited, none where nothing moves."""
    s = record.summary
    if not math.isfinite(s.effective_cells) or record.blind:
        return []
    rows = [["all", _number(s.effective_cells)]]
    both = halves(record)
    if both is not None:
        rows += [["return above the median", _number(both.high)], ["return below it", _number(both.low)]]
    title = f"states visited: effective number of {s.cells} cells over their two main directions"
    return [{"title": title, "columns": ["episodes", "cells"], "rows": rows}]


def _row(name: str, values: Floats) -> list[Any]:
    return [name, *((float(v) for v in np.quantile(values, QUANTILES)) if values.size else [None] * len(QUANTILES))]


def _number(value: float) -> float | None:
    return round(float(value), 3) if math.isfinite(value) else None


def notes_of(record: Record) -> list[str]:
    """Return what the reader must know of how it was read."""
    notes = list(record.summary.notes)
    if len(record.drawn) < record.n:
        notes.append(f"Some checks look at {len(record.drawn)} episodes drawn at random of {record.n:,}.")
    return notes
