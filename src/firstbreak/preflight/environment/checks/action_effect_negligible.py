"""The check `action-effect-negligible`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..columns import columns_of, is_image, robust_spread
from ..recorded import NOTHING
from ..sweep import NoSweep, effects, reward_effects, sweep_of, without_effect
from ..world import World

LEAST = 1e-3
"""Share of the spread. MountainCarContinuous, known for its weak engine, has more than 1."""


@check(
    "PEN053",
    "action-effect-negligible",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Check the unit and the gain between the action and the simulator.",
    explained_by=("action-without-effect", "observation-outliers", "state-grows-without-bound"),
)
def look(world: World) -> Answer:
    """Even full actions hardly change anything against what happens by itself.

    What is measured:
        The largest change of each observation and of the reward between the ends of an action's range, held for 8
        steps, against the robust spread of that quantity. Dimensions that hardly vary themselves do not count.

    Why it hurts:
        The signal of the action drowns in the rest of the dynamics: advantages are noise, whatever the algorithm.

    Usual causes:
        A unit that is wrong, a gain applied twice, an action that is divided by the time step once too often.

    What to try:
        Print force and acceleration for a full action beside gravity and friction.

    When it is harmless:
        A weak actuator that works over hundreds of steps; then raise the frame skip.

    References:
        A. Jones 2021, 'Debugging RL, without the agonizing pain'.
    """
    if not world.episodes:
        return NOTHING
    sweep, columns = sweep_of(world), columns_of(world)
    if isinstance(sweep, NoSweep):
        return Skip(sweep.reason, ("a seed that repeats an episode",))
    if sweep.discrete or is_image(world) or not columns.continuous.any():
        return Skip("measured for continuous actions and observations only")
    if len(without_effect(sweep)) == len(sweep.values) or sweep.lengths.min() < sweep.lengths.max():
        return None
    wide = columns.continuous & (columns.spread > LEAST * columns.spread.max())
    shares = effects(sweep)[:, wide] / columns.spread[wide]
    rewards = world.rewards[np.isfinite(world.rewards)]
    spread = float(robust_spread(rewards[:, None])[0])
    paid = reward_effects(sweep) / spread if spread > 0 else np.zeros(len(sweep.values))
    most = float(max(shares.max(), paid.max()))
    if most >= LEAST:
        return None
    return Symptom(
        f"full actions held for {int(sweep.lengths.max())} steps move the state by at most {most:.1e} of its spread",
        "action",
        {"largest_effect_frac": most, "states": sweep.states, "dimensions": len(sweep.values)},
    )
