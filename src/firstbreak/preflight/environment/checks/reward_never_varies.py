"""The check `reward-never-varies`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..recorded import NOTHING
from ..world import World

LEAST_STEPS = 100


@check(
    "PEN071",
    "reward-never-varies",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.INFO,
    fix="Check that a better policy is paid more; shape the reward or start closer to the goal.",
)
def look(world: World) -> Answer:
    """Under random play every reward is the same.

    What is measured:
        All recorded rewards.

    Why it hurts:
        As long as this holds only the length of the episode tells actions apart; if that is fixed as well there is no
        signal.

    Usual causes:
        A sparse task whose reward random play never meets; a reward that is constant by design; a term that is not
        added.

    What to try:
        See whether an expert or a hand-written policy gets another reward; think of shaping or a curriculum.

    When it is harmless:
        A reward of 1 per step survived, or of -1 per step until the goal.

    References:
        Ng, Harada & Russell 1999 (shaping by potentials).
    """
    if not world.episodes:
        return NOTHING
    rewards = world.rewards[np.isfinite(world.rewards)]
    if len(rewards) < LEAST_STEPS or float(np.ptp(rewards)) > 0:
        return None
    lengths = {e.length for e in world.episodes if e.ended}
    fixed = " and so is the episode length" if len(lengths) == 1 else ""
    return Symptom(
        f"all {len(rewards)} rewards of random play are {rewards[0]:g}{fixed}",
        "reward",
        {"reward": float(rewards[0]), "steps": len(rewards), "lengths": len(lengths)},
    )
