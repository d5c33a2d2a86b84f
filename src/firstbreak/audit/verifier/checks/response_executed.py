"""The check `response-executed`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..gate import unasked
from ..record import Audit


@check(
    "VER007",
    "response-executed",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Parse answers with ast.literal_eval or a parser of your own; never eval or exec them here.",
)
def look(audit: Audit) -> Answer:
    """The verifier runs what the model writes, in its own process.

    What is measured:
        Responses that are code which would leave a harmless mark in the process; whether the mark was there
        afterwards.

    Why it hurts:
        The policy can write the score: patch the comparison, read the answer, end the process. It also is a hole in
        the machine.

    Usual causes:
        eval() of the answer to compare numbers; exec() of code answers beside their tests.

    What to try:
        Parse numbers as numbers; run code answers in a child process without secrets, and compare what it prints.

    When it is harmless:
        When the whole verifier already runs in a sandbox of its own for each response.
    """
    skip = unasked(audit, "executing", "tampering", usable=False)
    if skip is not None:
        return skip
    ran = [t for t in audit.of("executing", "tampering") if t.note == "executed"]
    if not ran:
        return None
    return Symptom(
        f"{len(ran)} of {len(audit.of('executing', 'tampering'))} responses made of code were run in its own process",
        "verifier",
        {"ran": len(ran), "first_form": ran[0].form, "first_row": ran[0].row + 1},
    )
