"""The check `environment-eats-memory`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..world import World


@check(
    "PEN032",
    "environment-eats-memory",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Free at reset what the last episode allocated.",
    explained_by=("environment-forks", "processes-left-behind", "memory-grows"),
)
def look(world: World) -> Answer:
    """The environment takes more memory than the limit.

    What is measured:
        How the child process ended: the parent watches its time, its exit status and its memory, that of processes it
        started included.

    Why it hurts:
        The machine starts to swap or kills the process; with N copies N times as soon.

    Usual causes:
        Something kept at every reset or step; a buffer sized by mistake; processes started again and again.

    What to try:
        Look at what grows with tracemalloc; raise the limit if it is meant to be this large.

    When it is harmless:
        A large simulator: raise the limit.

    References:
        -
    """
    del world
    return None  # the parent tells, when this process can no longer
