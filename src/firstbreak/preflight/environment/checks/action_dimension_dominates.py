"""The check `action-dimension-dominates`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..columns import is_image
from ..recorded import NOTHING
from ..sweep import NoSweep, effects, sweep_of
from ..world import World

RATIO = 300.0
"""Actuators of one robot differ by tens (Ant, Walker2d, LunarLander: below 30)."""


@check(
    "PEN054",
    "action-dimension-dominates",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Rescale this dimension so that its full range has an effect like the others'.",
)
def look(world: World) -> Answer:
    """One action dimension has an effect hundreds of times larger than the others.

    What is measured:
        For each action dimension, how much moving it over its range changes the observations it acts on (the lower
        median over those), in their own units.

    Why it hurts:
        Exploration noise of one size is a hurricane in one dimension and nothing in another; no single learning rate
        serves both.

    Usual causes:
        A unit or gain that is wrong for one actuator; a missing rescaling of one dimension.

    What to try:
        Compare the actuator ranges; rescale each dimension to [-1, 1] with a comparable effect.

    When it is harmless:
        Actuators of truly different kinds, such as a main drive beside a trim tab, whose effects are in different
        units.

    References:
        Andrychowicz et al. 2021, arXiv 2006.05990 (scale of actions).
    """
    if not world.episodes:
        return NOTHING
    sweep = sweep_of(world)
    if isinstance(sweep, NoSweep):
        return Skip(sweep.reason, ("a seed that repeats an episode",))
    if sweep.discrete or is_image(world) or len(sweep.values) < 2:
        return Skip("there is only one continuous action dimension or none")
    moved = effects(sweep)
    sizes = np.array(
        [np.sort(row[row > 0])[(np.count_nonzero(row) - 1) // 2] if row.any() else np.nan for row in moved]
    )
    if np.isfinite(sizes).sum() < 2:
        return None
    largest = int(np.nanargmax(sizes))
    others = float(np.nanmedian(np.delete(sizes, largest)))
    ratio = float(sizes[largest] / others)
    if ratio < RATIO:
        return None
    return Symptom(
        f"action dimension {largest} has an effect {ratio:.0f} times that of the other {len(sizes) - 1}",
        f"action[{largest}]",
        {"ratio": ratio, "effect": float(sizes[largest]), "others_effect": others, "states": sweep.states},
    )
