"""The check `action-bounds-inverted`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..world import World


@check(
    "PEN042",
    "action-bounds-inverted",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Give every action dimension a low below its high.",
)
def look(world: World) -> Answer:
    """The bounds of the action space leave no range to act in.

    What is measured:
        low and high of the action Box, entry by entry: low above high, NaN, or both equal.

    Why it hurts:
        Sampling, rescaling and squashing all compute with high - low; where that is negative or 0 they return nonsense
        or NaN.

    Usual causes:
        low and high exchanged; a bound read from an empty table; a unit conversion applied to one of them.

    What to try:
        Print action_space.low and action_space.high.

    When it is harmless:
        An entry with equal bounds is a constant; it only wastes an output.

    References:
        Gymnasium, spaces.Box.
    """
    space = world.action_space
    if not (hasattr(space, "low") and hasattr(space, "high")):
        return Skip("the action space is not a Box")
    low, high = np.ravel(np.asarray(space.low, float)), np.ravel(np.asarray(space.high, float))
    wrong = np.flatnonzero(np.isnan(low) | np.isnan(high) | (low > high))
    equal = np.flatnonzero(low == high)
    if not len(wrong) and not len(equal):
        return None
    shown = wrong if len(wrong) else equal
    first = int(shown[0])
    what = "is inverted or NaN" if len(wrong) else "has equal bounds"
    return Symptom(
        f"{len(shown)} of {len(low)} action dimensions {what}: dimension {first} has low {low[first]:g}, high "
        f"{high[first]:g}",
        f"action[{first}]",
        {"low": float(low[first]), "high": float(high[first]), "dimensions": len(shown)},
        severity=None if len(wrong) else Severity.INFO,
    )
