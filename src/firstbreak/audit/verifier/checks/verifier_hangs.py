"""The check `verifier-hangs`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..details import quoted
from ..gate import named, unasked
from ..record import Audit


@check(
    "VER002",
    "verifier-hangs",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Give the verifier a time limit, and cut what is parsed.",
)
def look(audit: Audit) -> Answer:
    """A response keeps the verifier busy beyond the time limit of a call.

    What is measured:
        Calls that did not return within the seconds allowed (--seconds).

    Why it hurts:
        One response stalls the whole batch; with a time-out round it, right answers become zeros.

    Usual causes:
        Regular expressions that backtrack; symbolic algebra on huge expressions; a judge without a time-out.

    What to try:
        Cut the response before parsing; rewrite nested repetitions such as (a+)+.

    When it is harmless:
        Where a call may take that long, as with a remote judge: raise --seconds.
    """
    skip = unasked(audit, usable=False)
    if skip is not None:
        return skip
    stuck = audit.where("hung")
    if not stuck:
        return None
    first = stuck[0]
    return Symptom(
        f"{len(stuck)} responses kept it busy beyond the limit, first {first.family}: {named(first.form)}",
        "verifier",
        {
            "responses": len(stuck),
            "asked": len(audit.trials),
            "limit_s": first.seconds,
            "first_row": first.row + 1,
            "first_characters": first.characters,
            "first_response": quoted(first.response),
        },
    )
