"""The check `verifier-leaves-processes`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link
from ..gate import unasked
from ..record import Audit


@check(
    "VER006",
    "verifier-leaves-processes",
    link=Link.SYSTEM_RESOURCES,
    component=Component.REWARD,
    fix="Wait for every process that is started, or end it in a finally clause.",
)
def look(audit: Audit) -> Answer:
    """Processes of the verifier outlive it, or it comes back from a call twice.

    What is measured:
        Whether processes of the child's group ran on after it had ended, and whether a forked copy returned from a
        call.

    Why it hurts:
        Left processes pile up with every response until memory or handles run out, days into a run.

    Usual causes:
        os.fork without os._exit; subprocess.Popen without wait; a pool that is never closed.

    What to try:
        Use subprocess.run with a time-out; count the processes after a thousand calls.

    When it is harmless:
        A helper that is started once and serves all calls, and ends with the trainer.
    """
    skip = unasked(audit, usable=False)
    if skip is not None:
        return skip
    if not audit.leftovers:
        return None
    return Symptom("processes of the verifier were still running after it ended", "verifier", {"calls": audit.calls})
