"""The check `tool-calls-without-effect`."""

from __future__ import annotations

from collections import Counter

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ....preflight.reward.measures import fraction_interval
from ...episodes.failing import says_failed
from ...episodes.gate import no_calls, percent
from ...sample import ToolCall
from ...table import Table

LIMIT_FRAC = 0.5
"""Lower bound of the share of accepted calls that change nothing. Engineering default."""
FEWEST = 30
"""Accepted calls of such tools. Engineering default."""


@check(
    "AUD105",
    "tool-calls-without-effect",
    link=Link.EXPLORATION,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    fix="Read what these calls write: pay for the state reached, never for the call.",
    explained_by=("environment-never-came-up",),
)
def look(table: Table) -> Answer:
    """Calls of tools that can change the state mostly leave it as it is.

    What is measured:
        Among accepted calls of tools that changed the state at least once in the samples drawn, the share that
        changed nothing, with Wilson's interval.

    Why it hurts:
        Calls for show: writing what is already there looks like work to a judge and to a process reward.

    Usual causes:
        A reward for calls; a tool that reports success without doing anything.

    What to try:
        Pick five such calls and compare the state before and after by hand; if it did change, the log's flag is
        wrong.

    When it is harmless:
        Reading tools are left out. A tool that both reads and writes (a shell) may mostly read.
    """
    skip = no_calls(table)
    if skip is not None:
        return skip
    calls = _accepted(table)
    if not any(c.changed is not None for c in calls):
        return Skip("the log does not say which calls changed the state", ("a `changed` flag for each tool call",))
    writers = {c.name for c in calls if c.changed}
    made = Counter(c.changed for c in calls if c.name in writers and c.changed is not None)
    n, idle = made.total(), made[False]
    low, high = fraction_interval(idle, n)
    if n < FEWEST:
        return Skip(f"only {n} calls of tools that change the state, {FEWEST} are needed", ("more samples",))
    if low <= LIMIT_FRAC:
        return None
    return Symptom(
        f"{percent(idle / n)} of {n:,} calls of writing tools change nothing",
        "agent/changes",
        {"idle_frac": idle / n, "low_frac": low, "high_frac": high, "calls": n},
    )


def _accepted(table: Table) -> list[ToolCall]:
    """Return the calls of the samples drawn that no tool refused."""
    calls = (c for sample in table.drawn for turn in sample.turns for c in turn.calls)
    return [c for c in calls if not c.failed and not says_failed(c.result)]
