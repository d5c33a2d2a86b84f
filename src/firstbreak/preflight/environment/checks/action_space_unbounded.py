"""The check `action-space-unbounded`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..world import World


@check(
    "PEN074",
    "action-space-unbounded",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.INFO,
    fix="Declare finite bounds.",
)
def look(world: World) -> Answer:
    """The action space has no bounds.

    What is measured:
        low and high of the action Box.

    Why it hurts:
        Nothing tells the policy its scale: squashing and rescaling are impossible, and random actions are arbitrary.

    Usual causes:
        Bounds left at infinity because the simulator clips by itself.

    What to try:
        Declare the range that the actuators have.

    When it is harmless:
        Linear-quadratic tasks and the like, with a policy of known scale.

    References:
        Gymnasium, spaces.Box; SB3's check_env refuses it.
    """
    space = world.action_space
    if not (hasattr(space, "low") and hasattr(space, "high")):
        return Skip("the action space is not a Box")
    wide = ~(np.isfinite(np.ravel(space.low)) & np.isfinite(np.ravel(space.high)))
    if not wide.any():
        return None
    return Symptom(
        f"{int(wide.sum())} of {len(wide)} action dimensions have no finite bounds",
        "action",
        {"unbounded": int(wide.sum()), "dimensions": len(wide)},
    )
