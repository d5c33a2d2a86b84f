"""The check `score-not-repeatable`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gate import unasked
from ..record import Audit
from ..replays import differing


@check(
    "VER009",
    "score-not-repeatable",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Seed or remove what is random; sort sets before they are compared.",
)
def look(audit: Audit) -> Answer:
    """The same response gets another score in another process.

    What is measured:
        Up to 48 responses, scored in the same order in two fresh processes. An error where a response passes in one
        only.

    Why it hurts:
        Noise of the reward that no number of samples of the policy removes; groups get a spread that means nothing.

    Usual causes:
        Random numbers; a judge with temperature; order of sets (hash seed); the time of day; a race.

    What to try:
        Fix seeds; ask a judge at temperature 0 or several times.

    When it is harmless:
        A judge whose noise is known and averaged.
    """
    skip = unasked(audit, usable=False)
    if skip is not None:
        return skip

    changed = differing(audit, "first", "first")
    if isinstance(changed, Skip):
        return changed
    if not changed.rows:
        return None
    return Symptom(
        f"{changed.count} of {changed.asked} responses score differently in a second process",
        "verifier",
        {
            "changed": changed.count,
            "flipped": changed.flipped,
            "asked": changed.asked,
            "first_row": changed.rows[0] + 1,
        },
        severity=Severity.ERROR if changed.flipped else Severity.WARNING,
    )
