"""The check `terminated-never-seen`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..recorded import NOTHING
from ..world import World

LEAST_EPISODES = 3
LEAST_STEPS = 100
"""Rewards that must agree. Engineering default, as in `reward-never-varies`."""


@check(
    "PEN070",
    "terminated-never-seen",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.INFO,
    fix="Test by hand that success and failure end the episode, if they should.",
)
def look(world: World) -> Answer:
    """Every episode ends at the time limit; terminated was never True.

    What is measured:
        The flags of all recorded episodes. A warning where every step pays the same positive reward as well: a reward
        for living on is worth something only if something can end the episode.

    Why it hurts:
        Under random play neither success nor failure ever ends an episode. If one of them should, its test does not
        work.

    Usual causes:
        A task without an end; a goal that is too hard to hit at random; a failure test that is never true.

    What to try:
        Bring the environment into a state that should end it and look at the flag.

    When it is harmless:
        Many control tasks have no end but the limit; with a cost per step a goal may end it that random play misses.

    References:
        Pardo et al. 2018, arXiv 1712.00378 (time limits).
    """
    if not world.episodes:
        return NOTHING
    ended = [e for e in world.episodes if e.ended]
    if len(ended) < LEAST_EPISODES or any(e.terminated[-1] for e in ended):
        return None
    longest = max(e.length for e in ended)
    living = _living_reward(world)
    if living and {(e.length, bool(e.terminated[-1])) for e in world.all_episodes if e.ended} == {(longest, False)}:
        return Symptom(
            f"each step pays {living:g} and nothing ends an episode before step {longest}: all policies earn the same",
            "terminated",
            {"episodes": len(ended), "longest_steps": longest, "reward": living},
            severity=Severity.WARNING,
        )
    return Symptom(
        f"all {len(ended)} episodes end by truncated, the longest after {longest} steps; terminated is never True",
        "terminated",
        {"episodes": len(ended), "longest_steps": longest},
    )


def _living_reward(world: World) -> float:
    """The positive reward that every recorded step paid, random or searched; 0 when they differ or cost something."""
    rewards = np.concatenate([e.rewards for e in world.all_episodes])
    same = len(rewards) >= LEAST_STEPS and bool((rewards == rewards[0]).all())
    return max(0.0, float(rewards[0])) if same else 0.0
