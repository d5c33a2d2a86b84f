"""Could an alarm after a fault be chance? How often alarms come where nothing is broken, and what that allows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

CONFIDENCE = 0.95


def rate_at_most(alarms: int, rows: int) -> float:
    """Return the upper end of the one-sided 95 % interval of a Poisson rate: alarms a row, given `alarms` in `rows`.

    Source: Garwood 1936, Biometrika 28: half a quantile of chi-squared with 2 (alarms + 1) degrees of freedom.
    """
    from scipy.stats import chi2

    return float(chi2.ppf(CONFIDENCE, 2 * (alarms + 1))) / 2 / max(1, rows)


def probability(rate: float, rows: int) -> float:
    """Return the probability of at least one alarm in `rows` rows at `rate` alarms a row."""
    return -math.expm1(-rate * rows)


def unbroken(runs: Iterable[Mapping[str, Any]]) -> tuple[int, int]:
    """Return alarms and rows in all that is unbroken: whole twins, and every run before its fault begins."""
    alarms = rows = 0
    for run in runs:
        end = run["began"] if run["fault"] else math.inf
        rows += sum(step < end for step, _ in run["rows"])
        # The exception that ends a run is dated at its last row, which may be the one before the fault.
        alarms += sum(a["at"] < end and a["name"] != "crashed-on-nonfinite" for a in run["alarms"])
    return alarms, rows


def without_first(run: Mapping[str, Any], share: float) -> dict[str, Any]:
    """Return `run` without the rows of the first `share` of its length after the fault began."""
    began = run["began"]
    end = began + share * length_of(run)
    return {**run, "rows": [row for row in run["rows"] if not began < row[0] <= end]}


def length_of(run: Mapping[str, Any]) -> float:
    """Return the position of the last row."""
    return float(run["rows"][-1][0]) if run["rows"] else math.nan
