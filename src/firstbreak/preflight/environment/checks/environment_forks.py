"""The check `environment-forks`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..world import World


@check(
    "PEN010",
    "environment-forks",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="End the forked side inside the call (os._exit), or start a process with subprocess or multiprocessing.",
)
def look(world: World) -> Answer:
    """A call of the environment returns twice: it forks, and the copy of the process runs on in the caller.

    What is measured:
        Whether a fork of the child process comes back to the code that plays the environment. Such copies are stopped
        there and counted; processes that stay inside the environment are another matter (`processes-left-behind`).

    Why it hurts:
        From the first call on there are two trainings, then four: they share files, ports and the GPU, write over each
        other's checkpoints, and fill the machine.

    Usual causes:
        os.fork without os._exit on the child's side; an exception that leaves the child's side of a fork.

    What to try:
        Print os.getpid() after the call: it must appear once.

    When it is harmless:
        Never.

    References:
        The documentation of os.fork: a forked child that is not to run on ends with os._exit.
    """
    del world
    return None  # the parent tells: it alone outlives all copies
