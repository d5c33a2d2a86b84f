"""The check `space-inconsistent`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..spaces import parts_of
from ..world import World


@check(
    "PEN004",
    "space-inconsistent",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Mend the bounds of the space.",
)
def look(world: World) -> Answer:
    """A declared space contradicts itself.

    What is measured:
        Bounds of every Box (NaN, low above high, shape), sizes of discrete spaces, and whether a sample of the space
        belongs to it.

    Why it hurts:
        Networks are sized and actions scaled from the spaces; NaN or swapped bounds turn into NaN actions.

    Usual causes:
        Bounds computed from a table with a hole; low and high in the wrong order.

    What to try:
        Print the space and compare it with the task.

    When it is harmless:
        Never.

    References:
        Gymnasium, utils/env_checker.py check_space.
    """
    parts = [*parts_of(world.observation_space, "observation"), *parts_of(world.action_space, "action")]
    for name, space in parts:
        wrong = wrong_in(space)
        if wrong:
            return Symptom(f"{name}: {wrong}"[:120], name, {"spaces": len(parts)})
    return None


def wrong_in(space: Any) -> str:
    """Return what is wrong with a leaf space, empty when nothing is."""
    if hasattr(space, "low") and hasattr(space, "high"):
        low, high = np.asarray(space.low, float), np.asarray(space.high, float)
        nan = int(np.isnan(low).sum() + np.isnan(high).sum())
        if nan:
            return f"{nan} bounds are NaN"
        swapped = int((low > high).sum())
        if swapped:
            return f"low is above high in {swapped} of {low.size} entries"
        if low.shape != tuple(space.shape):
            return f"bounds of shape {low.shape} for a space of shape {tuple(space.shape)}"
    sizes = np.ravel(np.asarray(getattr(space, "nvec", getattr(space, "n", 1))))
    if sizes.dtype.kind in "iu" and (sizes <= 0).any():
        return f"{int(sizes.min())} choices"
    return ""
