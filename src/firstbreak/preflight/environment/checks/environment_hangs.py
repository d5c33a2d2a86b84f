"""The check `environment-hangs`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..world import World


@check(
    "PEN030",
    "environment-hangs",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Find what the call named waits for.",
)
def look(world: World) -> Answer:
    """A call of the environment does not return.

    What is measured:
        How the child process ended: the parent watches its time, its memory and its exit status.

    Why it hurts:
        A run stands still for ever, often unnoticed, with the machine paid for.

    Usual causes:
        A lock or queue that nobody fills; a loop without an end; a server that went away.

    What to try:
        Attach a debugger to the saved script; give every wait a time limit.

    When it is harmless:
        A call that is slow beyond the limit of silence: raise the limit.

    References:
        poke-env issue 199.
    """
    del world
    return None  # the parent tells, when this process can no longer
