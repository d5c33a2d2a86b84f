"""The check `observation-of-wrong-form`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ..troubles import first_trouble, told
from ..world import World


@check(
    "PEN005",
    "observation-of-wrong-form",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Make every return path build the observation in the same way.",
)
def look(world: World) -> Answer:
    """An observation has another structure, type or shape than its space declares.

    What is measured:
        Every reset and step of the recording; the first departure is kept, with the actions that lead to it made as
        few as possible.

    Why it hurts:
        Networks and buffers are sized from the space; what does not fit crashes there or is broadcast silently.

    Usual causes:
        A list on one branch; a concatenation that grows; a space that was not updated.

    What to try:
        Compare observation.shape with observation_space.shape where the observation is built.

    When it is harmless:
        Never.

    References:
        Gymnasium, Env.reset and Env.step; utils/env_checker.py.
    """
    trouble = first_trouble(world, "observation-type", "observation-shape")
    if trouble is None:
        return None
    message = f"{trouble.where} from {trouble.call}: {trouble.message}"
    return told(world, "observation-of-wrong-form", trouble, message, "observation")
