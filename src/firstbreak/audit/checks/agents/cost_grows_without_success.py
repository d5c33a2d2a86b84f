"""The check `cost-grows-without-success`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ...episodes.comparing import growth
from ...episodes.gate import RISE, Ends, column, ends, no_calls, outcome
from ...table import Table


@check(
    "AUD114",
    "cost-grows-without-success",
    link=Link.EXPLORATION,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    fix="Subtract the cost of calls from the reward, in units of what a success is worth.",
    explained_by=("turns-grow-without-success",),
)
def look(table: Table) -> Answer:
    """The cost of an episode grows over training and successes do not grow with it.

    What is measured:
        Logged cost per episode and per success in the last third of the steps against the first, with 95 %
        intervals over prompts; both lower bounds must exceed 1.25.

    Why it hurts:
        The run gets dearer without getting better, in training and later in use.

    Usual causes:
        A dear tool where a cheap one does; longer inputs to tools; cost that is not part of the reward.

    What to try:
        Split the cost by tool, early and late.

    When it is harmless:
        When the price of a tool changed, not its use.
    """
    skip = no_calls(table)
    if skip is not None:
        return skip
    cost, result = column(table, "agent/cost"), outcome(table)
    if not np.isfinite(cost).any():
        return Skip("the log gives no cost of the calls", ("the cost of each tool call",))
    if result is None:
        return Skip("neither success nor a reward with any spread is logged", ("success",))
    parts = ends(table, cost, result.good)
    if not isinstance(parts, Ends):
        return parts
    more = growth(cost, np.ones(table.n), table.group, parts.early, parts.late)
    dearer = growth(cost, result.good, table.group, parts.early, parts.late)
    if not (more.low > RISE and (dearer.low > RISE or not np.nansum(result.good[parts.late]))):
        return None
    return Symptom(
        f"cost per episode grew {more.value:.1f} times, cost per {result.word} {dearer.value:.1f} times",
        "agent/cost",
        {"growth": more.value, "low": more.low, "high": more.high, "growth_per_success": dearer.value},
    )
