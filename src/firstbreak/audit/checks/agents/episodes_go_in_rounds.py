"""The check `episodes-go-in-rounds`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ...episodes.gate import hits, no_calls, percent
from ...table import Table

LIMIT_FRAC = 0.02
"""Lower bound of the share of episodes. Engineering default."""


@check(
    "AUD108",
    "episodes-go-in-rounds",
    link=Link.EXPLORATION,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    fix="Detect a round in the rollout and end the episode there, truncated and unpaid.",
    explained_by=("environment-never-came-up",),
)
def look(table: Table) -> Answer:
    """Episodes go round the same two to four calls, with the same results each time.

    What is measured:
        The share of episodes that hold a round of two to four calls gone through at least three times, results
        included; with Wilson's interval.

    Why it hurts:
        The state comes back to where it was: the rest of the episode cannot succeed, and it fills the batch
        with one repeated pattern.

    Usual causes:
        A reward for calls or for changes of state; a context too short to hold the round; a policy that lost
        its entropy.

    What to try:
        Compare the reward of such episodes with their siblings; raise the temperature for one batch and see
        whether the rounds go.

    When it is harmless:
        When the task itself is periodic, such as steering.
    """
    skip = no_calls(table)
    if skip is not None:
        return skip
    found, n, low, high = hits(table, "agent/loop_calls")
    if found < 3 or low <= LIMIT_FRAC:
        return None
    return Symptom(
        f"{percent(found / n)} of {n} episodes go round the same calls three times or more",
        "agent/loop_calls",
        {"episodes": n, "looped": found, "low_frac": low, "high_frac": high},
    )
