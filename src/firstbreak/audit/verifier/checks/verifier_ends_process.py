"""The check `verifier-ends-process`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..details import quoted
from ..gate import named, unasked
from ..record import Audit


@check(
    "VER001",
    "verifier-ends-process",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Guard against the input that does it; run untrusted code in a process of its own.",
)
def look(audit: Audit) -> Answer:
    """A response makes the verifier end its process or use up the memory.

    What is measured:
        Responses after which the child process was gone or beyond its memory limit.

    Why it hurts:
        A policy that finds the response ends the run, or the worker, whose rewards are then missing or zero.

    Usual causes:
        os._exit or a crash in native code; answers run in the trainer's own process; tables that grow with the
        response.

    What to try:
        Cap the length of what is parsed; run code answers in a separate process with limits.

    When it is harmless:
        When the trainer already calls the verifier in a process that may die, and counts such calls.
    """
    skip = unasked(audit, usable=False)
    if skip is not None:
        return skip
    gone = audit.where("died", "memory")
    if not gone:
        return None
    first = gone[0]
    how = "used up the memory" if first.how == "memory" else "ended the process"
    return Symptom(
        f"{len(gone)} responses {how}, first {first.family}: {named(first.form)} (row {first.row + 1})",
        "verifier",
        {
            "responses": len(gone),
            "asked": len(audit.trials),
            "first_row": first.row + 1,
            "first_characters": first.characters,
            "first_response": quoted(first.response),
        },
    )
