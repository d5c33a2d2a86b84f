"""The check `calls-per-success-grow`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ...episodes.comparing import growth
from ...episodes.gate import RISE, Ends, column, ends, no_calls, outcome
from ...table import Table


@check(
    "AUD113",
    "calls-per-success-grow",
    link=Link.EXPLORATION,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    fix="Find out which of the two moved, calls or success, and follow that one.",
    explained_by=("turns-grow-without-success", "environment-never-came-up"),
)
def look(table: Table) -> Answer:
    """Each success takes more and more tool calls.

    What is measured:
        Tool calls per success in the last third of the steps against the first, with a 95 % interval over
        prompts whose lower bound must exceed 1.25.

    Why it hurts:
        Either the agent works more for the same, or it succeeds less with the same work: the training moves it
        the wrong way.

    Usual causes:
        Calls that are paid; a policy that forgets; harder prompts later on.

    What to try:
        Compare the same prompts early and late; look at calls per episode and at success each by itself.

    When it is harmless:
        When later prompts are harder by design (a curriculum).
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
    dearer = growth(calls, result.good, table.group, parts.early, parts.late)
    if not dearer.low > RISE:
        return None
    early, late = (float(calls[p].sum() / max(result.good[p].sum(), 1)) for p in (parts.early, parts.late))
    return Symptom(
        f"calls per {result.word} grew from {early:.1f} to {late:.1f}, {dearer.value:.1f} times",
        "agent/calls",
        {"early_calls": early, "late_calls": late, "growth": dearer.value, "low": dearer.low, "high": dearer.high},
    )
