"""The check `action-overwritten`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..troubles import first_trouble, told
from ..world import World


@check(
    "PEN024",
    "action-overwritten",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Copy the action before changing it.",
)
def look(world: World) -> Answer:
    """step writes into the caller's action array.

    What is measured:
        Every reset and step of the recording; the first departure is kept, with the actions that lead to it made as
        few as possible.

    Why it hurts:
        The stored action is not the one that was drawn: log-probabilities and Q targets belong to another action.

    Usual causes:
        np.clip(..., out=action), *= on the argument.

    What to try:
        Work on a copy: action = np.array(action).

    When it is harmless:
        The trainer keeps a copy of its own.

    References:
        Gymnasium, Env.step.
    """
    trouble = first_trouble(world, "action-changed")
    if trouble is None:
        return None
    return told(world, "action-overwritten", trouble, f"{trouble.message}", "action-changed")
