"""The small tables of a task's report: returns of each policy, the gap closed, remedies in order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...check import checks_of
from .gap import gap_closed, several
from .remedies import REMEDIES
from .sample import WHO, TaskSample

MOST_REMEDIES = 2
"""Findings whose remedies are shown."""

Table = dict[str, Any]


def tables_of(sample: TaskSample, fired: Iterable[str]) -> list[Table]:
    """Return the tables that a report prints: (title, columns, rows) by name."""
    return [_returns(sample), *_remedies(set(fired))]


def _returns(sample: TaskSample) -> Table:
    known = [who for who in WHO if who in sample.returns]
    columns = ["policy", "episodes", "mean", "std", "median", "steps"]
    columns += ["truncated %"] * bool(sample.truncated) + ["at goal %"] * bool(sample.goal_reached)
    rows = list[list[Any]]()
    for who in known:
        values = sample.returns[who][np.isfinite(sample.returns[who])]
        numbers: list[float | None] = [None] * 3
        if values.size:
            numbers = [float(values.mean()), float(values.std()), float(np.median(values))]
        rows.append([who, int(sample.returns[who].size), *numbers, _mean(sample.lengths.get(who))])
        for given in (sample.truncated, sample.goal_reached):
            if given:
                rows[-1].append(_mean(given.get(who), 100))
    return {"title": _title(sample), "columns": columns, "rows": rows}


def _title(sample: TaskSample) -> str:
    found = [sample.returns.get(who) for who in ("random", "expert", "trained")]
    random, expert, trained = found
    if random is None or expert is None or trained is None or not all(several(v) for v in found):
        return "returns"
    closed = gap_closed(random, expert, trained)
    if closed is None:
        return "returns; no gap between random and expert"
    low, high = 100 * closed.low, 100 * closed.high
    return f"returns; {100 * closed.value:.0f} % of the gap closed ({low:.0f} to {high:.0f})"


def _mean(values: Any, times: float = 1.0) -> float | None:
    return None if values is None else times * float(np.asarray(values, dtype=np.float64).mean())


def _remedies(fired: set[str]) -> list[Table]:
    """What to do about the findings that nothing else explains."""
    own = [c.name for c in checks_of("task") if c.name in fired and fired.isdisjoint(c.explained_by)]
    return [
        {
            "title": f"{name}: what to try, in order",
            "columns": ["", "do"],
            "rows": [[str(n), text] for n, text in enumerate(REMEDIES[name], 1)],
        }
        for name in [n for n in own if n in REMEDIES][:MOST_REMEDIES]
    ]
