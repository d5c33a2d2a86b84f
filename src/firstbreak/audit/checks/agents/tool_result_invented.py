"""The check `tool-result-invented`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ...episodes.gate import hits, no_calls, percent
from ...table import Table

LIMIT_FRAC = 0.01
"""Lower bound of the share of episodes. Engineering default."""


@check(
    "AUD110",
    "tool-result-invented",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Check numbers in the answer against the tool results, and pay nothing for an answer that they contradict.",
)
def look(table: Table) -> Answer:
    """Agents state numbers as what a tool returned that no tool returned.

    What is measured:
        The share of episodes in which a sentence such as `the calculator returned 731` gives a number found in
        no result, argument or message of the user, rounding allowed; with Wilson's interval. English only.

    Why it hurts:
        The answer looks grounded and is not; a judge that reads only text pays it like a grounded one.

    Usual causes:
        Answers paid for their look; results that never reach the model; stop strings that let the model write
        the tool's turn itself.

    What to try:
        Look whether the model's own text holds the tool's turn: then the stop string is wrong.

    When it is harmless:
        When results are cut in the log but not for the model.
    """
    skip = no_calls(table)
    if skip is not None:
        return skip
    found, n, low, high = hits(table, "agent/invented_results")
    if found < 3 or low <= LIMIT_FRAC:
        return None
    return Symptom(
        f"{percent(found / n)} of {n} episodes report a tool result that no tool returned",
        "agent/invented_results",
        {"episodes": n, "invented": found, "low_frac": low, "high_frac": high},
    )
