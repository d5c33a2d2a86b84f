"""The check `info-not-a-dict`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..troubles import first_trouble, told
from ..world import World


@check(
    "PEN011",
    "info-not-a-dict",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Return a dict on every path.",
)
def look(world: World) -> Answer:
    """info is not a dictionary.

    What is measured:
        Every reset and step of the recording; the first departure is kept, with the actions that lead to it made as
        few as possible.

    Why it hurts:
        Wrappers and trainers write into info and read from it; None raises there, in the middle of a run.

    Usual causes:
        A branch that returns None; a list from another interface.

    What to try:
        Return {} where there is nothing to tell.

    When it is harmless:
        Never.

    References:
        Gymnasium, Env.reset and Env.step; utils/env_checker.py.
    """
    trouble = first_trouble(world, "info")
    if trouble is None:
        return None
    return told(world, "info-not-a-dict", trouble, f"info is {trouble.message} in {trouble.call}", "info")
