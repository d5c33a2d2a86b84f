"""The check `environment-dies`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..world import World


@check(
    "PEN031",
    "environment-dies",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Mend the native crash; raise an exception instead of ending the process.",
)
def look(world: World) -> Answer:
    """The environment ends the process that plays it.

    What is measured:
        How the child process ended: the parent watches its time, its memory and its exit status.

    Why it hurts:
        The run is lost, without a message; in a worker it may be restarted for ever.

    Usual causes:
        A segmentation fault in native code; os._exit; an abort in an assertion of C++.

    What to try:
        Run the saved script under faulthandler or a native debugger.

    When it is harmless:
        Never.

    References:
        -
    """
    del world
    return None  # the parent tells, when this process can no longer
