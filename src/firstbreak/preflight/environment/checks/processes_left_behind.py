"""The check `processes-left-behind`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..habits import processes_left
from ..recorded import NOTHING
from ..trying import tried
from ..world import World


@check(
    "PEN034",
    "processes-left-behind",
    link=Link.ENVIRONMENT_DATA,
    component=Component.SYSTEM,
    severity=Severity.WARNING,
    fix="End every process in close.",
)
def look(world: World) -> Answer:
    """Processes of the environment go on after close.

    What is measured:
        Child processes before making it and after three resets and close; what is still there when the child process
        that played it has ended; and, where memory ran out, whose it was.

    Why it hurts:
        They keep memory, ports and GPUs; after some hundred resets the machine is full.

    Usual causes:
        A server started in reset and never ended; close that is not overridden.

    What to try:
        Keep the handle and end it in close, and in reset before starting another.

    When it is harmless:
        A server that is meant to be shared.

    References:
        -
    """
    if not world.episodes:
        return NOTHING
    told = tried(lambda: processes_left(world))
    if isinstance(told, Skip):
        return told
    left, resets = told
    if not left:
        return None
    return Symptom(
        f"{len(left)} processes still run after {resets} resets and close",
        "close",
        {"processes": len(left), "resets": resets},
    )
