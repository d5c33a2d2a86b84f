"""The check `verifier-raises`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..details import quoted
from ..gate import unasked
from ..record import Audit, Trial


@check(
    "VER003",
    "verifier-raises",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Catch the exception where it arises and decide there what the response is worth.",
)
def look(audit: Audit) -> Answer:
    """The verifier raises on some responses.

    What is measured:
        Responses on which an exception (or sys.exit) left the verifier. An error when ordinary responses do it, a
        warning when only odd characters do.

    Why it hurts:
        The trainer stops, or a wrapper turns the exception into a zero that says nothing about the answer.

    Usual causes:
        Indexing the list of matches without asking whether there is one; float() of text; int() of too many digits.

    What to try:
        Put the empty response and one without an answer to it by hand.

    When it is harmless:
        Where the trainer is known to catch it and to leave the sample out.
    """
    skip = unasked(audit, usable=False)
    if skip is not None:
        return skip
    raised = audit.where("raised")
    if not raised:
        return None
    ordinary = [t for t in raised if t.family not in ("odd", "executing")]
    first = (ordinary or raised)[0]
    return Symptom(
        f"raises {first.note} on {audit.rate(list(audit.trials), _raised).words()} responses, first {first.family}",
        "verifier",
        {
            "raised": len(raised),
            "raised_on_ordinary": len(ordinary),
            "asked": len(audit.trials),
            "exception": first.note,
            "first_row": first.row + 1,
            "first_response": quoted(first.response),
        },
        severity=Severity.ERROR if ordinary else Severity.WARNING,
    )


def _raised(trial: Trial) -> bool:
    return trial.how == "raised"
