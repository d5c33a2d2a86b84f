"""The check `action-space-not-normalised`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..world import World


@check(
    "PEN075",
    "action-space-not-normalised",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.INFO,
    fix="Rescale actions to [-1, 1].",
)
def look(world: World) -> Answer:
    """The action range is not [-1, 1].

    What is measured:
        low and high of the action Box.

    Why it hurts:
        A Gaussian policy starts around 0 with a standard deviation of about 1: too wide, too narrow or off-centre here.

    Usual causes:
        Physical units in the action space.

    What to try:
        Wrap with RescaleAction(-1, 1), or scale inside the policy.

    When it is harmless:
        Trainers that rescale by themselves, as SAC of SB3 does.

    References:
        SB3 documentation, 'Tips and tricks when creating a custom environment'.
    """
    space = world.action_space
    if not (hasattr(space, "low") and hasattr(space, "high")):
        return Skip("the action space is not a Box")
    low, high = np.ravel(np.asarray(space.low, float)), np.ravel(np.asarray(space.high, float))
    bounded = np.isfinite(low) & np.isfinite(high)
    other = np.flatnonzero(bounded & ((low != -1) | (high != 1)))
    if not len(other):
        return None
    first = int(other[0])
    return Symptom(
        f"{len(other)} of {len(low)} action dimensions are not [-1, 1]: dimension {first} is [{low[first]:g}, "
        f"{high[first]:g}]",
        f"action[{first}]",
        {"low": float(low[first]), "high": float(high[first]), "dimensions": len(other)},
    )
