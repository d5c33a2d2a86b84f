"""The check `calls-are-paid`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ....preflight.reward.measures import rank_interval
from ...episodes.comparing import within
from ...episodes.gate import FEWEST, column, no_calls
from ...table import Table

LIMIT_RANK = 0.3
"""Lower bound of the rank correlation. Engineering default."""


@check(
    "AUD106",
    "calls-are-paid",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Pay for the final state; drop the reward per call or cap it below the smallest difference of outcome.",
)
def look(table: Table) -> Answer:
    """Among episodes that did not succeed the reward rises with the number of calls.

    What is measured:
        Spearman's correlation between calls and reward of the unsuccessful episodes, each less the mean of its
        prompt, with a bootstrap interval.

    Why it hurts:
        The cheapest way to more reward is then more calls, not more successes: calls per episode grow and
        success does not.

    Usual causes:
        A process reward for each accepted call; a judge that is impressed by activity.

    What to try:
        Set the reward per call to 0 for a short run: calls should fall and success should not.

    When it is harmless:
        When further calls are real progress towards the goal and the reward is a potential of the state.

    References:
        Ng, Harada and Russell 1999 (shaping that keeps the optimum).
    """
    skip = no_calls(table)
    if skip is not None:
        return skip
    success, reward, calls = column(table, "success"), column(table, "reward"), column(table, "agent/calls")
    if not np.isfinite(success).any():
        return Skip("the log does not say which episodes succeeded", ("success",))
    rows = (success == 0) & np.isfinite(reward) & np.isfinite(calls)
    if rows.sum() < FEWEST:
        return Skip(f"only {int(rows.sum())} unsuccessful episodes, {FEWEST} are needed", ("more samples",))
    x, y = within(calls[rows], table.group[rows]), within(reward[rows], table.group[rows])
    rank, low, high = rank_interval(x, y)
    if low <= LIMIT_RANK:
        return None
    return Symptom(
        f"reward rises with the calls of {int(rows.sum())} failed episodes: rank correlation {rank:.2f}",
        "reward",
        {"rank": rank, "low": low, "high": high, "episodes": int(rows.sum())},
    )
