"""Which runs count: faults that cost, healthy runs that learned. By true returns, which no log holds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
CLEAR = 2.0
"""Standard errors by which the end of a healthy run must be above its beginning."""


def twins(row: Row, rows: Sequence[Row]) -> list[Row]:
    """Return the plain runs of the same trainer on the same task."""
    return [other for other in rows if other["name"] == "plain" and other["base"] == row["base"]]


def last_evaluation(row: Row) -> float:
    """Return the mean of the last two evaluations that the log was told of."""
    scores = [score for _, score in row["evaluated"]][-2:]
    return sum(scores) / len(scores) if scores else math.nan


def last_return(row: Row) -> float:
    """Return the mean true return of the last fifth of a run."""
    return float(row["end"])


def costs(row: Row, rows: Sequence[Row], protocol: bool) -> bool:
    """Whether a run with a fault ends below every plain run, or died; of a protocol, whether its evaluation does."""
    if row["died"]:
        return True
    measure = last_evaluation if protocol else last_return
    worst = min(measure(twin) for twin in twins(row, rows))
    return not measure(row) >= worst  # a run in which no episode ends any more has lost its score, too


def learned(row: Row) -> bool:
    """Whether a healthy run is better at its end than it was at first."""
    (early, spread, n), (late, late_spread, m) = row["early"], row["late"]
    if n < 2 or m < 2:
        return False
    return late - early > CLEAR * math.sqrt(spread / n + late_spread / m)


def counts(row: Row, rows: Sequence[Row], protocol: bool = False) -> bool:
    """Whether a run is in the figures."""
    return costs(row, rows, protocol) if row["kind"] == "fault" else learned(row)
