"""The check `reset-or-step-malformed`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..troubles import first_trouble, told
from ..world import World


@check(
    "PEN001",
    "reset-or-step-malformed",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Return (obs, info) from reset and five values from step.",
)
def look(world: World) -> Answer:
    """reset or step does not return the number of values that the interface promises.

    What is measured:
        Every reset and step of the recording; the first departure is kept, with the actions that lead to it made as
        few as possible.

    Why it hurts:
        Every trainer unpacks (observation, info) and five values; others crash or read the wrong one.

    Usual causes:
        An old environment; a branch without return; a wrapper for the other interface.

    What to try:
        Return (observation, info) and (observation, reward, terminated, truncated, info).

    When it is harmless:
        Never.

    References:
        Gymnasium, Env.reset and Env.step; utils/env_checker.py.
    """
    trouble = first_trouble(world, "reset-return", "step-return")
    if trouble is None:
        return None
    message = f"{trouble.call} returned {trouble.message}"
    return told(world, "reset-or-step-malformed", trouble, message, trouble.kind)
