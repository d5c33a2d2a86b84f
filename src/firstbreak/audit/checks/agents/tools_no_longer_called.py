"""The check `tools-no-longer-called`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ...episodes.comparing import difference
from ...episodes.gate import Ends, column, ends, no_calls, outcome, percent
from ...table import Table

LIMIT_RISE = 0.3
"""Lower bound of the rise of the share of episodes without a call. Engineering default."""


@check(
    "AUD123",
    "tools-no-longer-called",
    link=Link.EXPLORATION,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    fix="Go back to the last checkpoint that called tools; check that a failed call is not punished more than no call.",
)
def look(table: Table) -> Answer:
    """Over training the agent stops calling tools, and success does not rise.

    What is measured:
        The share of episodes without a call in the last third of the steps less that in the first, and the
        change of success, with 95 % intervals over prompts.

    Why it hurts:
        What is no longer called is no longer sampled: training cannot find the way back by itself.

    Usual causes:
        A penalty for failed calls; a format reward without tools; an update too large after a batch of
        failures.

    What to try:
        Look at the reward of episodes with and without a call around the step where it turns.

    When it is harmless:
        When the model really learned the answers and success rose.
    """
    skip = no_calls(table)
    if skip is not None:
        return skip
    calls, result = column(table, "agent/calls"), outcome(table)
    if result is None:
        return Skip("neither success nor a reward with any spread is logged", ("success",))
    parts = ends(table, calls, result.good)
    if not isinstance(parts, Ends):
        return parts
    idle = (calls == 0).astype(float)
    rise = difference(idle, table.group, parts.early, parts.late)
    gain = difference(np.nan_to_num(result.good), table.group, parts.early, parts.late)
    if rise.low <= LIMIT_RISE or gain.low > 0:
        return None
    early, late = (float(idle[p].mean()) for p in (parts.early, parts.late))
    return Symptom(
        f"episodes without a tool call rose from {percent(early)} to {percent(late)}",
        "agent/calls",
        {"early_frac": early, "late_frac": late, "low": rise.low, "success_change": gain.value},
    )
