"""The check `environment-prints`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..habits import printed_of
from ..recorded import NOTHING
from ..trying import tried
from ..world import World

LOUD_BYTES = 10_000
"""Bytes per 1,000 steps: 10 MB in a short run of a million steps."""


@check(
    "PEN033",
    "environment-prints",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Remove the print, or log at level debug.",
)
def look(world: World) -> Answer:
    """The environment writes to stdout or stderr while it plays.

    What is measured:
        Bytes written in a few hundred steps, in all ways: print, logging and native code.

    Why it hurts:
        Logs of a million steps fill disks, printing slows the run down, and what is parsed from stdout is broken.

    Usual causes:
        A print left over from debugging; a warning in every step.

    What to try:
        Remove it, or use logging at the level debug.

    When it is harmless:
        A few lines at the start.

    References:
        -
    """
    if not world.episodes:
        return NOTHING
    printed = tried(lambda: printed_of(world))
    if isinstance(printed, Skip):
        return printed
    per_thousand = 1000 * printed.bytes / max(1, printed.steps)
    if not printed.bytes:
        return None
    return Symptom(
        f"{printed.bytes} bytes printed in {printed.steps} steps and {printed.resets} episodes",
        "stdout",
        {"printed_bytes": printed.bytes, "steps": printed.steps, "bytes_per_1000_steps": per_thousand},
        severity=Severity.WARNING if per_thousand >= LOUD_BYTES else Severity.INFO,
    )
