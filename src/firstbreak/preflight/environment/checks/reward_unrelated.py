"""The check `reward-unrelated`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..columns import is_image
from ..predictability import held_out_r2
from ..recorded import NOTHING
from ..transitions import transitions_of
from ..world import World

LEAST_ROWS = 1000
MOST_SAME_FRAC = 0.9
MOST_R2 = 0.01
"""Below what noise reaches by chance with 300 held-out rows."""


@check(
    "PEN072",
    "reward-unrelated",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Compute the reward of one step by hand and compare.",
    explained_by=("observation-constant", "observation-unpredictable", "reward-not-finite", "step-reward-outliers"),
)
def look(world: World) -> Answer:
    """The reward has nothing to do with observation, action or next observation.

    What is measured:
        Held-out R² of the reward from observation, action and next observation, by ridge regression and nearest
        neighbours.

    Why it hurts:
        A reward that cannot be told from what the agent sees and does is noise to it.

    Usual causes:
        The reward of another step, copy or episode; pure noise; a term that hangs on something not observed.

    What to try:
        Print reward, observation and action of ten steps; compute the reward by hand.

    When it is harmless:
        A rare or delayed reward; this check needs one that varies in every tenth step.

    References:
        Held-out R² instead of plain correlation, which is 0 for any reward with a maximum in the middle.
    """
    if not world.episodes:
        return NOTHING
    transitions = transitions_of(world)
    if not transitions.enough or is_image(world) or len(transitions.reward) < LEAST_ROWS:
        return Skip("too few transitions, or observations that a small regressor cannot use")
    reward = transitions.reward
    _, counts = np.unique(reward, return_counts=True)
    if counts.max() > MOST_SAME_FRAC * len(reward):
        return Skip("the reward hardly varies under random play")
    inputs = np.concatenate([transitions.now, transitions.action, transitions.after], axis=1)
    explained = float(held_out_r2(inputs, reward[:, None], transitions.held_out)[0])
    if explained > MOST_R2:
        return None
    return Symptom(
        f"the reward cannot be told from observation, action and next observation: held-out R2 {explained:.3f}",
        "reward",
        {"r2": explained, "rows": len(reward), "distinct": len(counts)},
    )
