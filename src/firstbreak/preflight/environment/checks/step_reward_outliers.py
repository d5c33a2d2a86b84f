"""The check `step-reward-outliers`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..recorded import NOTHING
from ..world import World

LEAST_STEPS = 100
FACTOR = 1e3
"""Times what 95 % of the rewards reach. Shaped rewards with bonuses stay within a few hundred."""
LEAST_SIZE = 100.0
"""Smaller rewards do no harm to a value network of ordinary scale, however rare they are."""


@check(
    "PEN046",
    "step-reward-outliers",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Find the term that produces them; bound it, or clip the reward.",
)
def look(world: World) -> Answer:
    """A few rewards are many orders of magnitude beyond all others.

    What is measured:
        Rewards of steps that do not end an episode, against what 95 % of all rewards reach.

    Why it hurts:
        The return becomes a lottery over rare steps: the critic chases them, and normalisers shrink everything else to
        0.

    Usual causes:
        A penalty that squares an unbounded quantity; a division by a small distance; a unit that is wrong on one
        branch.

    What to try:
        Print the terms of the reward at the step named.

    When it is harmless:
        A bonus at the end of the episode does not count. Rare large rewards may be the task; then clip or compress
        them.

    References:
        ray issue 28283 (jumps of the reward before exploding gradients).
    """
    if not world.episodes:
        return NOTHING
    inner = np.concatenate([e.rewards[:-1] if e.ended else e.rewards for e in world.all_episodes])
    inner = np.abs(inner[np.isfinite(inner)])
    if len(inner) < LEAST_STEPS:
        return Skip(f"only {len(inner)} rewards were recorded", ("longer recording",))
    usual = float(np.quantile(inner, 0.95))
    if usual <= 0:
        return None
    wild = inner[(inner > FACTOR * usual) & (inner > LEAST_SIZE)]
    if not len(wild):
        return None
    return Symptom(
        f"{len(wild)} of {len(inner)} rewards are outliers up to {wild.max():.3g}, {wild.max() / usual:.0e} "
        "times the usual size",
        "reward",
        {"outliers": len(wild), "steps": len(inner), "largest": float(wild.max()), "usual": usual},
    )
