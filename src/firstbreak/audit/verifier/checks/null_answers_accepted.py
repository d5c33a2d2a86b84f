"""The check `null-answers-accepted`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..passing import wrong_ones_passing
from ..record import Audit


@check(
    "VER012",
    "null-answers-accepted",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Make a failed parse worth 0, before any comparison.",
)
def look(audit: Audit) -> Answer:
    """Responses that say nothing pass.

    What is measured:
        Empty and blank responses, refusals, 'N/A', and openers without an answer, on some rows each. An error where
        one of them passes in half of its rows.

    Why it hurts:
        Saying nothing is the easiest policy to find, and pays at once.

    Usual causes:
        None equal to None after two failed parses; an empty string that is a prefix or part of everything; refusals
        paid.

    What to try:
        Return 0.0 as soon as no answer is found.

    When it is harmless:
        Where 'I don't know' is meant to earn full score on the rows asked.

    References:
        Zhao et al. 2025, arXiv 2507.08794, for openers that fool judges.
    """
    return wrong_ones_passing(audit, "null", "responses without an answer pass", usable=False)
