"""The check `close-raises`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..recorded import NOTHING
from ..trying import tried
from ..world import World


@check(
    "PEN036",
    "close-raises",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Make close safe to be called twice.",
)
def look(world: World) -> Answer:
    """close raises, the first or the second time.

    What is measured:
        close after some play, and close again.

    Why it hurts:
        Trainers close in a finally block: the exception hides the one that mattered, and copies stay open.

    Usual causes:
        A handle that is already gone; a renderer that was never made.

    What to try:
        Make close safe to be called twice.

    When it is harmless:
        The run is over anyway.

    References:
        Gymnasium, utils/env_checker.py.
    """
    if not world.episodes:
        return NOTHING
    env = world.make()
    told = tried(lambda: env.reset(seed=world.seed))
    if isinstance(told, Skip):
        return told
    for time in ("first", "second"):
        try:
            env.close()
        except Exception as error:
            return Symptom(
                f"the {time} close after 1 reset raises {type(error).__name__}: {error}"[:120],
                "close",
                {"error": type(error).__name__},
                severity=Severity.WARNING if time == "first" else Severity.INFO,
            )
    return None
