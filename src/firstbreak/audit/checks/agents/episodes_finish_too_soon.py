"""The check `episodes-finish-too-soon`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ....preflight.reward.measures import fraction_interval
from ...episodes.gate import FEWEST, column, no_calls, percent
from ...table import Table

LIMIT_FRAC = 0.5
"""Lower bound of the share of failures. Engineering default: it is then the commonest way to fail."""
SHORT_FRAC = 0.5
"""A failure is too short with at most this share of the calls of the shortest success. Engineering default."""


@check(
    "AUD120",
    "episodes-finish-too-soon",
    link=Link.EXPLORATION,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    fix="Pay nothing for the claim to be done, and let the environment say what is still open.",
    explained_by=("tools-no-longer-called",),
)
def look(table: Table) -> Answer:
    """Most failures end by the agent's own will before any sibling of the same prompt could have succeeded.

    What is measured:
        Among failures of prompts with a success, the share that ended with a message of the model after at most
        half of the calls of the shortest success; with Wilson's interval.

    Why it hurts:
        The agent stops while there is still work and budget; no later call can be learned from.

    Usual causes:
        A penalty per call or per token that outweighs the task; a reward for short episodes; a claim of success
        that is paid.

    What to try:
        Set the penalty to 0 for a short run, and look at what these agents say last.

    When it is harmless:
        When giving up early is right, because the task cannot be done.
    """
    skip = no_calls(table)
    if skip is not None:
        return skip
    success, calls = column(table, "success"), column(table, "agent/calls")
    if not np.isfinite(success).any():
        return Skip("the log does not say which episodes succeeded", ("success",))
    known = np.isfinite(success) & np.isfinite(calls)
    names, place = np.unique(table.group[known], return_inverse=True)
    shortest = np.full(names.size, np.inf)
    good, made = success[known] == 1, calls[known]
    np.minimum.at(shortest, place[good], made[good])
    lost = ~good & np.isfinite(shortest[place]) & (shortest[place] > 1)
    soon = lost & (made <= SHORT_FRAC * shortest[place]) & (column(table, "agent/unfinished")[known] == 0)
    n, found = int(lost.sum()), int(soon.sum())
    if n < FEWEST:
        return Skip(f"only {n} failures of prompts with a success, {FEWEST} are needed", ("more episodes a prompt",))
    low, high = fraction_interval(found, n)
    if low <= LIMIT_FRAC:
        return None
    return Symptom(
        f"{percent(found / n)} of {n} failures end with at most half the calls of the shortest success",
        "agent/calls",
        {"failures": n, "too_short": found, "low_frac": low, "high_frac": high},
    )
