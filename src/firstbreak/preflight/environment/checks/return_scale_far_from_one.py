"""The check `return-scale-far-from-one`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..recorded import NOTHING
from ..world import Array, World

GAMMA = 0.99
LEAST, MOST = 0.01, 100.0
"""Two orders of magnitude to either side of 1 are left to the optimiser."""


@check(
    "PEN076",
    "return-scale-far-from-one",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.INFO,
    fix="Scale rewards so that returns have a spread of about 1.",
    explained_by=("reward-size-absurd", "step-reward-outliers"),
)
def look(world: World) -> Answer:
    """Discounted returns are far from a spread of 1.

    What is measured:
        The standard deviation of the discounted return-to-go (γ = 0.99) over all steps of random play.

    Why it hurts:
        The best policy does not depend on the scale of the reward, but value losses, gradient clipping and entropy
        terms do.

    Usual causes:
        Rewards in physical units.

    What to try:
        Divide rewards by a running standard deviation of the return, without moving their mean.

    When it is harmless:
        Trainers that scale rewards by themselves.

    References:
        Engstrom et al. 2020, arXiv 2005.12729 (reward scaling).
    """
    if not world.episodes:
        return NOTHING
    episodes = [e for e in world.episodes if e.length > 1 and np.isfinite(e.rewards).all()]
    if not episodes:
        return Skip("no episode of more than one step")
    returns = np.concatenate([returns_to_go(e.rewards) for e in episodes])
    spread = float(returns.std())
    if spread == 0 or LEAST <= spread <= MOST:
        return None
    return Symptom(
        f"discounted returns have a standard deviation of {spread:.3g} (from {returns.min():.3g} to "
        f"{returns.max():.3g})",
        "reward",
        {"sd": spread, "least": float(returns.min()), "most": float(returns.max()), "gamma": GAMMA},
    )


def returns_to_go(rewards: Array) -> Array:
    """Return the discounted sum of the rewards [L] from each step on, [L]."""
    total, out = 0.0, np.zeros(len(rewards))
    for t in range(len(rewards) - 1, -1, -1):
        total = float(rewards[t]) + GAMMA * total
        out[t] = total
    return out
