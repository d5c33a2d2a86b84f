"""The check `action-without-effect`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..columns import columns_text
from ..recorded import NOTHING
from ..sweep import NoSweep, sweep_of, without_effect
from ..world import World


@check(
    "PEN051",
    "action-without-effect",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Follow the action from step to the simulator; find where it is dropped.",
    explained_by=("observation-constant", "observation-not-finite", "action-bounds-inverted"),
)
def look(world: World) -> Answer:
    """Changing the action, or one of its dimensions, changes nothing.

    What is measured:
        From several states (same seed, same prefix) one dimension is moved over its whole range and held for 8 steps:
        observations, rewards and the end are compared bit for bit.

    Why it hurts:
        The policy gradient of that dimension is noise. If no dimension has an effect there is nothing to learn.

    Usual causes:
        An action that is never read; an index used twice; an actuator that is not connected; a wrapper that overwrites
        the action.

    What to try:
        Print what reaches the simulator for two different actions.

    When it is harmless:
        An action that matters only in states random play did not reach.

    References:
        sinergym issue 492; gym issue 566.
    """
    if not world.episodes:
        return NOTHING
    sweep = sweep_of(world)
    if isinstance(sweep, NoSweep):
        return Skip(sweep.reason, ("a seed that repeats an episode",))
    moved = [d for d, v in enumerate(sweep.values) if v.min() < v.max()]
    dead = [d for d in without_effect(sweep) if d in moved]
    if not dead:
        return None
    steps = int(sweep.lengths.max())
    if len(dead) == len(moved):
        what = "none of the actions changes anything"
    else:
        what = f"action dimension{'s' if len(dead) > 1 else ''} {columns_text(np.array(dead))} changes nothing"
    return Symptom(
        f"{what}: tried over its range from {sweep.states} states, held for {steps} steps",
        f"action[{dead[0]}]" if len(dead) < len(moved) else "action",
        {"dead": len(dead), "dimensions": columns_text(np.array(dead)), "states": sweep.states, "steps": steps},
        severity=Severity.ERROR if len(dead) == len(moved) else None,
    )
