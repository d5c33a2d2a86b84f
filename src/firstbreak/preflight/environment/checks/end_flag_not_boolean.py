"""The check `end-flag-not-boolean`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..troubles import first_trouble, told
from ..world import World


@check(
    "PEN009",
    "end-flag-not-boolean",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Return bool(terminated), bool(truncated).",
)
def look(world: World) -> Answer:
    """terminated or truncated is not a boolean.

    What is measured:
        Every reset and step of the recording; the first departure is kept, with the actions that lead to it made as
        few as possible.

    Why it hurts:
        None counts as False, arrays raise or count by their length; masks built from them are wrong without a word.

    Usual causes:
        Flags from comparisons of arrays; an int counter; old code that leaves one out.

    What to try:
        Return bool(...) for both.

    When it is harmless:
        0 and 1 mostly work, and are not promised to.

    References:
        Gymnasium, Env.reset and Env.step; utils/env_checker.py.
    """
    trouble = first_trouble(world, "flag")
    if trouble is None:
        return None
    return told(world, "end-flag-not-boolean", trouble, f"{trouble.message}", "flag")
