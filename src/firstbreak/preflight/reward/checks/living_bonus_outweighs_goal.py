"""The check `living-bonus-outweighs-goal`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gate import too_few
from ..measures import largest_atom
from ..sample import RewardSample

USUAL = 0.5
"""Share of the steps that must pay the same for it to count as a bonus for living."""


@check(
    "PRW036",
    "living-bonus-outweighs-goal",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Make waiting cost something, or pay at the goal what the remaining steps would have paid.",
)
def look(sample: RewardSample) -> Answer:
    """Waiting pays more than finishing: the reward per step outweighs the reward of the goal that ends the episode.

    What is measured:
        The commonest reward per step c > 0, the highest reward g of a step that terminates, and the time limit T, or
        the length of the longest episode, which somebody has waited: at the goal's door waiting is worth
        c (1 - gamma^T) / (1 - gamma), finishing g. Looks only where g exceeds c, so that there is a goal; where living
        is the task, as in CartPole, there is none.

    Why it hurts:
        The best policy stands before the goal until the time is up.

    Usual causes:
        A bonus for staying alive copied from a walking task; a goal reward of 1 beside hundreds of steps.

    What to try:
        Turn the bonus into a small cost per step.

    When it is harmless:
        When the terminating step with the highest reward is not a goal.

    References:
        Amodei et al. 2016, arXiv 1606.06565 (reward hacking); Pardo et al. 2018, arXiv 1712.00378 (time limits).
    """
    if not sample.stepwise or sample.terminated is None:
        return Skip("no terminated steps")
    skip = too_few(sample)
    if skip is not None:
        return skip
    ends = sample.rewards[sample.terminated]
    inner = sample.rewards[~sample.terminated]
    if not ends.size or not inner.size:
        return Skip("no episode was terminated", ("episodes that reach the goal",))
    living = largest_atom(inner)
    goal = float(ends.max())
    if living.count < USUAL * inner.size or living.value <= 0 or goal <= living.value:
        return None
    g, limit = sample.gamma, sample.time_limit or max(s.stop - s.start for s in sample.slices)
    waiting = living.value * (limit if g == 1 else (1 - g**limit) / (1 - g))
    if waiting <= goal:
        return None
    return Symptom(
        f"waiting pays more than finishing: {living.value:.3g} per step is worth {waiting:.3g}, the goal {goal:.3g}",
        "reward",
        {"per_step": living.value, "waiting": waiting, "goal": goal, "time_limit_steps": limit, "gamma": g,
         "goals_reached": int(np.sum(ends == goal))},
    )  # fmt: skip
