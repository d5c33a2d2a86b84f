"""The check `turns-grow-without-success`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ...episodes.comparing import growth
from ...episodes.gate import RISE, Ends, column, ends, no_calls, outcome
from ...table import Table


@check(
    "AUD112",
    "turns-grow-without-success",
    link=Link.EXPLORATION,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    fix="Cap the turns, pay nothing for them, and penalise episodes that reach the cap.",
)
def look(table: Table) -> Answer:
    """Turns per episode grow over training and successes do not grow with them.

    What is measured:
        Turns per episode and turns per success in the last third of the steps against the first, each with a 95
        % interval over prompts; both lower bounds must exceed 1.25.

    Why it hurts:
        Rollouts get slower and dearer, contexts fill up, and the cap begins to cut episodes.

    Usual causes:
        A reward for turns or calls; no cost of a turn; a loop that nobody ends; harder prompts later on.

    What to try:
        Compare the same prompts early and late. Then a small cost per turn for a short run.

    When it is harmless:
        When later prompts are harder by design (a curriculum).

    References:
        RAGEN (Wang et al. 2025), arXiv 2504.20073.
    """
    skip = no_calls(table)
    if skip is not None:
        return skip
    turns, result = column(table, "agent/turns"), outcome(table)
    if result is None:
        return Skip("neither success nor a reward with any spread is logged", ("success",))
    parts = ends(table, turns, result.good)
    if not isinstance(parts, Ends):
        return parts
    more = growth(turns, np.ones(table.n), table.group, parts.early, parts.late)
    dearer = growth(turns, result.good, table.group, parts.early, parts.late)
    if not (more.low > RISE and (dearer.low > RISE or not np.nansum(result.good[parts.late]))):
        return None
    return Symptom(
        f"turns per episode grew {more.value:.1f} times, turns per {result.word} {dearer.value:.1f} times",
        "agent/turns",
        {"growth": more.value, "low": more.low, "high": more.high, "growth_per_success": dearer.value},
    )
