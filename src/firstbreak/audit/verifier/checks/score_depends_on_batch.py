"""The check `score-depends-on-batch`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..calling import BATCHED
from ..gate import unasked
from ..record import Audit
from ..replays import differing, moody


@check(
    "VER011",
    "score-depends-on-batch",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Score each response by itself; normalise in the trainer.",
)
def look(audit: Audit) -> Answer:
    """A response's score depends on which others are scored in the same call.

    What is measured:
        The same responses scored eight in a call and one in a call, when asking again changes nothing.

    Why it hurts:
        The trainer normalises within groups already; batches mix groups, so the reward depends on chance
        neighbours.

    Usual causes:
        Normalisation, ranking or padding inside the reward function.

    What to try:
        Return raw scores; let the trainer subtract the group's mean.

    When it is harmless:
        A ranking reward that is meant to compare the responses of one prompt, if calls hold exactly one group.
    """
    skip = unasked(audit, usable=False)
    if skip is not None:
        return skip

    if audit.style not in BATCHED:
        return Skip("the verifier scores one response in a call")
    if moody(audit):
        return Skip("scores change at random, which hides it", ("a repeatable verifier",))
    again = differing(audit, "first", "again", within=True)
    found = differing(audit, "first", "singly", within=True)
    if isinstance(found, Skip):
        return found
    if not found.rows or (not isinstance(again, Skip) and again.count >= found.count):
        return None
    return Symptom(
        f"{found.count} of {found.asked} responses score differently by themselves than among seven others",
        "verifier",
        {"changed": found.count, "flipped": found.flipped, "asked": found.asked, "first_row": found.rows[0] + 1},
        severity=Severity.ERROR if found.flipped else Severity.WARNING,
    )
