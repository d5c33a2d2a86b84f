"""The check `reward-not-finite`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Onset, Severity
from ..cases import ends_not_finite, keep_shortest
from ..recorded import NOTHING
from ..world import World


@check(
    "PEN041",
    "reward-not-finite",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Find the term of the reward that is not finite and guard it where it is computed.",
)
def look(world: World) -> Answer:
    """Some rewards are NaN or infinite.

    What is measured:
        Every recorded reward, at any depth of the episode.

    Why it hurts:
        Returns, advantages and value targets of the whole episode become NaN, and the next update destroys the weights.

    Usual causes:
        A logarithm of 0 or a division by a distance of 0; a state that diverged; a statistic over an empty list.

    What to try:
        Replay the seed and actions of the episode named and print the terms of the reward at that step.

    When it is harmless:
        Never.

    References:
        legged_lab issue 15 (reward infinite after a sensor miss).
    """
    if not world.episodes:
        return NOTHING
    first: tuple[int, int] | None = None
    steps = bad = 0
    for index, episode in enumerate(world.all_episodes):
        wrong = ~np.isfinite(episode.rewards)
        steps, bad = steps + len(wrong), bad + int(wrong.sum())
        if wrong.any() and (first is None or int(np.argmax(wrong)) < first[1]):
            first = (index, int(np.argmax(wrong)))
    if first is None:
        return None
    step, episode = first[1] + 1, world.all_episodes[first[0]]
    kind = "NaN" if np.isnan(episode.rewards[first[1]]) else "infinite"
    again = ends_not_finite(lambda e: e.rewards)
    keep_shortest(world, "reward-not-finite", "reward-not-finite", episode, step, again)
    return Symptom(
        f"the reward is {kind}, first at step {step} of an episode; {bad} of {steps} steps",
        "reward",
        {"first_step": step, "bad_steps": bad, "steps": steps, "seed": -1 if episode.seed is None else episode.seed},
        at=Onset(step, step, "env_steps"),
    )
