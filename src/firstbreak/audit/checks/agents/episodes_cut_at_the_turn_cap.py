"""The check `episodes-cut-at-the-turn-cap`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ....preflight.reward.measures import fraction_interval
from ...episodes.comparing import difference
from ...episodes.gate import column, no_calls, outcome, percent
from ...table import Table

LIMIT_FRAC = 0.1
"""Lower bound of the share of episodes at the cap. Engineering default."""
LOSS_FRAC = 0.1
"""Upper bound of the difference of success to the rest. Engineering default."""


@check(
    "AUD115",
    "episodes-cut-at-the-turn-cap",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    fix="Raise the cap or shorten the task; leave cut episodes out of the loss or mark them as truncated.",
    explained_by=("environment-never-came-up", "failing-call-retried", "episodes-go-in-rounds"),
)
def look(table: Table) -> Answer:
    """Many episodes end at the turn cap, in the middle of their work, and rarely succeed.

    What is measured:
        The share of episodes with the largest number of turns that end on a call or a tool's result (or that
        the log marks as truncated), with Wilson's interval, and their success against the rest.

    Why it hurts:
        What was cut is paid like a failure though it may have been on its way; long ways are unlearned.

    Usual causes:
        A cap below what the task needs; episodes that wander; a cap counted in messages instead of turns.

    What to try:
        Play twenty prompts with twice the cap: how many of the cut ones succeed then?

    When it is harmless:
        Dialogues of a fixed number of turns, in which every episode ends alike, are not counted.
    """
    skip = no_calls(table)
    if skip is not None:
        return skip
    turns, cut = column(table, "agent/turns"), column(table, "truncated")
    known = np.isfinite(turns)
    if not np.isfinite(cut[known]).any():
        cut = column(table, "agent/unfinished")
    capped = known & (turns == np.nanmax(turns)) & (cut == 1)
    n, found = int(known.sum()), int(capped.sum())
    low, high = fraction_interval(found, n)
    result = outcome(table)
    if low <= LIMIT_FRAC or found == n or result is None:
        return None
    told = np.isfinite(result.good)
    gap = difference(np.nan_to_num(result.good), table.group, known & told & ~capped, capped & told)
    if not gap.high < -LOSS_FRAC:
        return None
    return Symptom(
        f"{percent(found / n)} of {n} episodes are cut at the cap of {int(np.nanmax(turns))} turns",
        "agent/turns",
        {"capped_frac": found / n, "low_frac": low, "high_frac": high, "turns": int(np.nanmax(turns)),
         "success_gap": gap.value},
    )  # fmt: skip
