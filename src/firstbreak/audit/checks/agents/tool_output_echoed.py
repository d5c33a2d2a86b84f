"""The check `tool-output-echoed`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ....preflight.reward.measures import fraction_interval
from ...episodes.gate import FEWEST, column, no_calls, paid, percent
from ...table import Table

LIMIT_FRAC = 0.02
"""Lower bound of the share of paid episodes. Engineering default."""


@check(
    "AUD117",
    "tool-output-echoed",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Ask for a short answer and compare it as a whole; a verifier that searches a text pays for any long copy.",
)
def look(table: Table) -> Answer:
    """Agents give a tool's whole output as their answer and are paid for it.

    What is measured:
        Among paid episodes, the share whose last message of 20 words or more stands word for word in one tool
        result, and that the log does not call a success; with Wilson's interval.

    Why it hurts:
        The answer is somewhere in the copy, so a verifier that searches finds it; the agent learns to copy
        instead of to answer.

    Usual causes:
        A substring verifier; no cost of length; a judge that sees no tool results.

    What to try:
        Cut the answer to 50 words before it is judged and see how the reward falls.

    When it is harmless:
        When the task is to show a file as it is.
    """
    skip = no_calls(table)
    if skip is not None:
        return skip
    high_reward = paid(table)
    if high_reward is None:
        return Skip("no reward with any spread is logged", ("reward",))
    echo = column(table, "agent/echo")
    known = np.isfinite(echo) & (high_reward == 1)
    n, found = int(known.sum()), int((known & (echo > 0) & ~(column(table, "success") == 1)).sum())
    if n < FEWEST:
        return Skip(f"only {n} paid episodes, {FEWEST} are needed", ("more samples",))
    low, high = fraction_interval(found, n)
    if found < 3 or low <= LIMIT_FRAC:
        return None
    return Symptom(
        f"{percent(found / n)} of {n} paid episodes answer with a whole tool output",
        "agent/echo",
        {"paid": n, "echoed": found, "low_frac": low, "high_frac": high},
    )
