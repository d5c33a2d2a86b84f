"""The check `slow-answers-refused`."""

from __future__ import annotations

from statistics import median

from ....check import Answer, Symptom, check
from ....finding import Component, Link
from ..gate import unasked
from ..record import Audit

SLOW_S = 0.1
"""Seconds. Engineering default: a rule takes less than a thousandth."""
TIMES = 5.0
"""How much longer than those that pass. Engineering default."""


@check(
    "VER022",
    "slow-answers-refused",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    fix="Count time-outs apart from wrong answers; cut what is parsed or raise the limit.",
)
def look(audit: Audit) -> Answer:
    """Right answers that take long to check are refused.

    What is measured:
        The right answer after 400, 2,000 and 8,000 characters of reasoning: whether refused calls took at least
        five times as long as passed ones, and a tenth of a second.

    Why it hurts:
        A time-out that scores 0 punishes long reasoning, whatever it says.

    Usual causes:
        A time limit inside the verifier with 0 as its result; work that grows with the whole response.

    What to try:
        Parse the last lines only; log the number of time-outs.

    When it is harmless:
        When responses of that length cannot occur.
    """
    skip = unasked(audit, "long-right")
    if skip is not None:
        return skip
    refused = [t.seconds for t in audit.of("long-right") if t.how == "ok" and not audit.passed(t)]
    passed = [t.seconds for t in audit.of("right", "long-right") if audit.passed(t)]
    if len(refused) < 2 or not passed:
        return None
    slow, quick = median(refused), median(passed)
    if slow < max(SLOW_S, TIMES * quick):
        return None
    return Symptom(
        f"{len(refused)} right answers are refused after {slow:.2g} s each; those that pass take {quick:.2g} s",
        "verifier",
        {"refused": len(refused), "refused_median_s": slow, "passed_median_s": quick},
    )
