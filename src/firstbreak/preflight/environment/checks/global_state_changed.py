"""The check `global-state-changed`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..world import World


@check(
    "PEN018",
    "global-state-changed",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Restore what was changed, or use a context manager.",
)
def look(world: World) -> Answer:
    """The environment changes settings of the whole process.

    What is measured:
        Working directory, environment variables, warning filters, numpy error settings, signal handlers, sys.path and
        torch settings, before and after making, resetting, stepping and closing. Only what a second run changes again
        counts: imports change things once.

    Why it hurts:
        Relative paths break, overflow and warnings in the user's own code are hidden, threads are limited, Ctrl-C
        stops working.

    Usual causes:
        os.chdir to find assets; os.environ for a simulator; warnings.simplefilter or numpy.seterr against noise.

    What to try:
        Use absolute paths, and context managers such as warnings.catch_warnings and numpy.errstate.

    When it is harmless:
        A variable that only the simulator reads.

    References:
        -
    """
    changes: dict[str, str] = world.facts.get("global_changes", {})
    if not changes:
        return None
    things = sorted(changes)
    shown = ", ".join(things[:3]) + (" ..." if len(things) > 3 else "")
    return Symptom(
        f"{changes[things[0]]} changes {len(things)} settings of the process: {shown}"[:120],
        things[0],
        {"changes": len(things), **{thing: changes[thing] for thing in things[:20]}},
    )
