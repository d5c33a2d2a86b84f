"""The check `exceptions-scored`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..gate import unasked
from ..record import Audit

LEAST = 3
"""Responses; one or two may be odd by themselves. Engineering default."""


@check(
    "VER020",
    "exceptions-scored",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    fix="Catch only what is expected, and score the response after catching, not instead.",
)
def look(audit: Audit) -> Answer:
    """An exception inside the verifier is turned into a score.

    What is measured:
        Right answers that were refused and wrong ones that passed are asked again under observation: whether an
        exception passed through the verifier's own code before it returned. At least three, and half of those
        asked.

    Why it hurts:
        A zero for an exception looks like a wrong answer, a one like a right one; the fault is silent.

    Usual causes:
        except Exception: return 0 round the whole comparison; time-outs caught the same way.

    What to try:
        Count exceptions in the log; let them be NaN or leave the sample out until they are rare.

    When it is harmless:
        When the exception is the expected way to learn that an answer does not parse, and no right answer is among
        them.
    """
    skip = unasked(audit, usable=False)
    if skip is not None:
        return skip
    found = {side: [(row, seen) for s, row, seen in audit.watched if s == side] for side in ("refused", "passed")}
    shares = {side: sum(bool(seen) for _, seen in each) for side, each in found.items()}
    guilty = [s for s in ("passed", "refused") if shares[s] >= max(LEAST, len(found[s]) / 2)]
    if not guilty:
        return None
    side = guilty[0]
    row, exception = next((row, seen) for row, seen in found[side] if seen)
    what = "wrong responses that pass" if side == "passed" else "right answers that are refused"
    return Symptom(
        f"{exception} inside, in {shares[side]} of {len(found[side])} {what}",
        "verifier",
        {
            "exception": exception,
            "refused_with_exception": shares["refused"],
            "refused_watched": len(found["refused"]),
            "passed_with_exception": shares["passed"],
            "passed_watched": len(found["passed"]),
            "first_row": row + 1,
        },
        severity=Severity.ERROR if side == "passed" else Severity.WARNING,
    )
