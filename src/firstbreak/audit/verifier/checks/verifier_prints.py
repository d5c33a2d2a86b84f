"""The check `verifier-prints`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link
from ..gate import unasked
from ..record import Audit

BYTES = 10.0
"""Bytes a call. Engineering default: below it, a line at the start and the odd warning."""


@check(
    "VER025",
    "verifier-prints",
    link=Link.SYSTEM_RESOURCES,
    component=Component.LOGGING,
    fix="Write to a logger below warning, or not at all.",
)
def look(audit: Audit) -> Answer:
    """The verifier prints at every call.

    What is measured:
        Bytes written to standard output and error, for each call. Told from ten bytes a call on.

    Why it hurts:
        Millions of calls fill disks and drown the messages of the trainer; printing also costs time.

    Usual causes:
        A print left from debugging.

    What to try:
        Remove it, or print one sample in a thousand.

    When it is harmless:
        A few lines for a run of any length.
    """
    skip = unasked(audit, usable=False)
    if skip is not None:
        return skip
    each = audit.printed_bytes / max(1, audit.calls)
    if each < BYTES:
        return None
    return Symptom(
        f"prints {each:.0f} bytes a call", "verifier", {"printed_bytes": audit.printed_bytes, "calls": audit.calls}
    )
