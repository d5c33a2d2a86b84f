"""The small tables of a reward's report: quantiles, and the shares of its components."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .measures import finite
from .sample import RewardSample

MOST_PARTS = 8
"""Components shown, those with the largest share first."""

Table = dict[str, Any]


def tables_of(sample: RewardSample, shares: dict[str, float]) -> list[Table]:
    """Return the tables that a report prints: (title, columns, rows) by name."""
    rows = [_quantiles("each step" if sample.stepwise else "each sample", sample.rewards)]
    if sample.stepwise:
        rows.append(_quantiles("return", sample.returns))
        rows.append(_quantiles(f"at gamma {sample.gamma:g}", sample.discounted))
    columns = ["", "count", "mean", "std", "1 %", "50 %", "99 %", "zeros %"]
    tables = [{"title": "rewards", "columns": columns, "rows": rows}]
    if sample.components:
        tables.append(_parts(sample, shares))
    return tables


def _quantiles(name: str, values: NDArray[np.float64]) -> list[Any]:
    kept = finite(values)
    if not kept.size:
        return [name, int(values.size), *[None] * 6]
    low, middle, high = (float(q) for q in np.quantile(kept, [0.01, 0.5, 0.99]))
    zeros = 100 * float((kept == 0).mean())
    return [name, int(values.size), float(kept.mean()), float(kept.std()), low, middle, high, zeros]


def _parts(sample: RewardSample, shares: dict[str, float]) -> Table:
    """Components by their share of the reward's variance."""
    order = sorted(sample.components, key=lambda k: -abs(np.nan_to_num(shares.get(k, 0.0))))
    rows = list[list[Any]]()
    for name in order[:MOST_PARTS]:
        values = finite(sample.components[name])
        share = shares.get(name)
        told = None if share is None or not np.isfinite(share) else 100 * share
        numbers: list[float | None] = [None] * 3
        if values.size:
            numbers = [float(values.mean()), float(values.std()), 100 * float((values == 0).mean())]
        rows.append([name[:30], told, *numbers])
    left = len(order) - len(rows)
    title = "components" + (f" ({left} more not shown)" if left else "")
    return {"title": title, "columns": ["component", "share of variance %", "mean", "std", "zeros %"], "rows": rows}
