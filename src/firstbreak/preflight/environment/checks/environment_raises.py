"""The check `environment-raises`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..troubles import first_trouble, told
from ..world import World


@check(
    "PEN012",
    "environment-raises",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Mend the call named; where actions led to it, the seed and actions kept repeat it.",
)
def look(world: World) -> Answer:
    """reset or step raises during random play.

    What is measured:
        Every reset and step of the recording; the first departure is kept, with the actions that lead to it made as
        few as possible.

    Why it hurts:
        A run dies after hours, at the first episode that reaches the place.

    Usual causes:
        A table with an end; a division by zero; a state that random play reaches and nobody tried.

    What to try:
        Replay the seed and the actions of the evidence, or the saved script, in a debugger.

    When it is harmless:
        Never inside the declared action space.

    References:
        Gymnasium, Env.reset and Env.step; utils/env_checker.py.
    """
    trouble = first_trouble(world, "raised")
    if trouble is None:
        return None
    message = f"{trouble.place} raises {trouble.message}"
    return told(world, "environment-raises", trouble, message, "raises")
