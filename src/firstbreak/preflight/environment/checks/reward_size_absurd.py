"""The check `reward-size-absurd`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..recorded import NOTHING
from ..world import World

ABSURD = 1e8
"""float32 numbers are 8 apart here: the difference between two rewards is lost in the return."""
LARGE = 1e5
"""With a horizon of 100 steps the return reaches 1e7, and its square the end of float32's digits."""
TINY = 1e-8
"""Adam's epsilon."""


@check(
    "PEN047",
    "reward-size-absurd",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Scale the reward so that returns have a spread of about 1.",
    explained_by=("reward-not-finite",),
)
def look(world: World) -> Answer:
    """The usual size of the reward is one that float32 learning cannot handle.

    What is measured:
        The median size of the rewards that are not 0.

    Why it hurts:
        Value losses square the return. From 1e8 on, neighbouring float32 numbers are 8 apart; below 1e-8 the gradients
        sink into the epsilon of the optimiser.

    Usual causes:
        A wrong unit (nanometres, cents, bytes); a product of large factors; a reward that was normalised twice.

    What to try:
        Multiply the reward by a constant so that returns have a spread of about 1. The best policy does not change.

    When it is harmless:
        A trainer that normalises rewards or returns copes with large ones, though not with lost digits.

    References:
        IEEE 754 binary32; Kingma & Ba 2015, arXiv 1412.6980 (epsilon 1e-8).
    """
    if not world.episodes:
        return NOTHING
    rewards = world.rewards
    sizes = np.abs(rewards[np.isfinite(rewards) & (rewards != 0)])
    if not len(sizes):
        return None
    usual = float(np.median(sizes))
    if TINY < usual < LARGE:
        return None
    return Symptom(
        f"the usual size of a reward is {usual:.2g} per step, far from 1",
        "reward",
        {"median_size": usual, "largest": float(sizes.max()), "steps": len(rewards)},
        severity=Severity.ERROR if usual >= ABSURD else None,
    )
