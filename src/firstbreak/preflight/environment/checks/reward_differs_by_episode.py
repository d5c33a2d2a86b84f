"""The check `reward-differs-by-episode`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..columns import is_image
from ..hidden_cause import reward_by_episode, reward_neighbours
from ..recorded import NOTHING
from ..transitions import transitions_of
from ..world import World

MOST_SAME_FRAC = 0.9
"""A reward that hardly varies tells nothing of what it depends on."""
LEAST_OWN, MOST_OTHERS, MOST_LEFT = 0.9, 0.95, 0.1
"""R² that a model of the episode itself must reach, and that one of the others must not; what the first may leave of
what the second leaves unexplained. On Pendulum, MountainCar and LunarLander nothing is gained."""
TIMES, LEAST_SD = 1.5, 0.05
"""Differences between episodes over those within: 1 where the observation decides, at most 1.1 on nine standard
environments; and their size, in spreads of the reward."""


@check(
    "PEN085",
    "reward-differs-by-episode",
    link=Link.REWARD_SIGNAL,
    component=Component.ENVIRONMENT,
    severity=Severity.INFO,
    fix="Put what the reward depends on (goal, target, task) into the observation.",
    explained_by=(
        "reward-not-finite",
        "step-reward-outliers",
        "reward-size-absurd",
        "hidden-state",
        "observation-constant",
    ),
)
def look(world: World) -> Answer:
    """The reward depends on something that is drawn for each episode and is not in the observation.

    What is measured:
        How well some steps' rewards are told from the other steps of the episode, and from other episodes, by models of
        one form on the next observation. And differences of the reward between nearest neighbours, of one episode and
        of different ones at no larger distance. A constant that is added for a whole episode does not count.

    Why it hurts:
        The same action in the same observation is right in one episode and wrong in the next: the best that can be
        learnt is the mean over all goals.

    Usual causes:
        A goal, a target speed or an opponent's strength that is drawn in reset and not observed; an observation wrapper
        that drops it.

    What to try:
        Print what reset draws; look for it in the observation.

    When it is harmless:
        A note only: a reward of several stages (waypoints) that the observation does tell looks alike. Meta-learning,
        where the task is to be found out within the episode.

    References:
        Kaelbling, Littman & Cassandra 1998 (partial observability).
    """
    if not world.episodes:
        return NOTHING
    if is_image(world) or not transitions_of(world).enough:
        return Skip("too few transitions, or observations that a small regressor cannot use")
    _, counts = np.unique(world.rewards, return_counts=True)
    if counts.max() > MOST_SAME_FRAC * len(world.rewards):
        return Skip("the reward hardly varies under random play")
    fits, near = reward_by_episode(world), reward_neighbours(world)
    if fits is None or near is None:
        return Skip("too few long episodes, or too many observation columns for neighbours", ("longer recording",))
    told = fits.own >= LEAST_OWN and fits.others <= MOST_OTHERS and 1 - fits.own <= MOST_LEFT * (1 - fits.others)
    if not told or near.between_sd < max(LEAST_SD, TIMES * near.within_sd):
        return None
    return Symptom(
        f"the reward's R2 is {fits.own:.2f} from its own episode, {fits.others:.2f} from the others: a hidden goal",
        "reward",
        {"r2_own": fits.own, "r2_others": fits.others, "between_sd": near.between_sd, "within_sd": near.within_sd},
    )
