"""The check `score-depends-on-calls-before`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gate import unasked
from ..record import Audit
from ..replays import differing, moody


@check(
    "VER010",
    "score-depends-on-calls-before",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Make the score a function of prompt, response and answer only.",
)
def look(audit: Audit) -> Answer:
    """A score depends on what was scored before it.

    What is measured:
        The same responses asked again in the same process, and in reverse order, when two processes agree on the
        first pass.

    Why it hurts:
        The reward changes while the policy does not; results depend on the order of samples and on restarts.

    Usual causes:
        A module-level set or cache with too small a key; a baseline updated by each call; counters.

    What to try:
        Key caches by prompt, response and answer; keep running statistics in the trainer.

    When it is harmless:
        A novelty reward that is meant to remember; then judge it apart from correctness.
    """
    skip = unasked(audit, usable=False)
    if skip is not None:
        return skip

    if moody(audit):
        return Skip("scores change at random, which hides it", ("a repeatable verifier",))
    changed = differing(audit, "first", "again", within=True)
    if isinstance(changed, Skip):
        return changed
    turned = differing(audit, "singly", "reversed", within=True)
    found = max((c for c in (changed, turned) if not isinstance(c, Skip)), key=lambda c: c.count)
    if not found.rows:
        return None
    return Symptom(
        f"{found.count} of {found.asked} responses score differently when they are asked again",
        "verifier",
        {"changed": found.count, "flipped": found.flipped, "asked": found.asked, "first_row": found.rows[0] + 1},
        severity=Severity.ERROR if found.flipped else Severity.WARNING,
    )
