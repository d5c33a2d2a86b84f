"""The check `calls-made-again`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ...episodes.comparing import Z95, share
from ...episodes.gate import column, no_calls, percent
from ...table import Table

LIMIT_FRAC = 0.1
"""Lower bound of the share of calls. Engineering default."""


@check(
    "AUD104",
    "calls-made-again",
    link=Link.EXPLORATION,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    fix="Pay nothing for calls, answer a repeated call with a short refusal, and cap calls per turn.",
    explained_by=("environment-never-came-up", "episodes-go-in-rounds", "failing-call-retried"),
)
def look(table: Table) -> Answer:
    """Calls are made again with the same arguments and the same result, nothing having changed in between.

    What is measured:
        The share of such calls with a 95 % interval over prompts. A call whose result differs in the end
        (waiting for a job) does not count.

    Why it hurts:
        Such a call can tell nothing new: it costs time and context, and where calls are paid it is paid work
        for show.

    Usual causes:
        A reward for the process; results cut so that the model cannot see them; a context that drops earlier
        results.

    What to try:
        Look at the reward of episodes with and without repetitions of one prompt.

    When it is harmless:
        When the environment changes by itself and looking again is the task.

    References:
        RAGEN (Wang et al. 2025), arXiv 2504.20073, on repetitive multi-turn behaviour.
    """
    skip = no_calls(table)
    if skip is not None:
        return skip
    calls, again = column(table, "agent/calls"), column(table, "agent/repeated_calls")
    known = np.isfinite(again) & (calls > 0)
    frac, error = share(again[known], calls[known], table.group[known])
    if not frac - Z95 * error > LIMIT_FRAC:
        return None
    return Symptom(
        f"{percent(frac)} of the tool calls repeat an earlier call and its result",
        "agent/repeated_calls",
        {"repeated_frac": frac, "low_frac": frac - Z95 * error, "calls": int(calls[known].sum())},
    )
