"""The check `limit-counts-past-episodes`."""

from __future__ import annotations

import contextlib

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..recorded import NOTHING
from ..recording import Chooser, close_quietly
from ..world import World

LEAST_EPISODES = 3
LONGEST_LIMIT = 5000
"""Steps: longer limits would take too long to be played twice."""
TRIES = 6
"""Attempts to reach the limit; terminations on the way end one."""


@check(
    "PEN083",
    "limit-counts-past-episodes",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Set the step counter of the limit to 0 in reset.",
    explained_by=("resets-itself-inside-step", "end-flag-lost", "truncation-at-varying-lengths"),
)
def look(world: World) -> Answer:
    """The time limit counts steps of earlier episodes: it is not started anew by reset.

    What is measured:
        Episodes that are cut by truncated at one length. In a fresh environment a third of that length is played, then
        reset, then played on: the next cut must come after the whole length again, not after what was left of it.

    Why it hurts:
        After an episode that ends early, the next ones are cut anywhere, and which are cut depends on the past: no
        critic can know the value of what follows.

    Usual causes:
        A counter of the simulator that runs on over resets; a counter set to 0 at the end of an episode and not in
        reset.

    What to try:
        Reset in the middle of an episode, then count the steps to the next truncation.

    When it is harmless:
        Never.

    References:
        Pardo et al. 2018, "Time limits in reinforcement learning", arXiv 1712.00378.
    """
    if not world.episodes:
        return NOTHING
    cut = [e.length for e in world.episodes if e.ended and e.truncated[-1] and not e.resets_by_itself]
    if len(cut) < LEAST_EPISODES or max(cut) > LONGEST_LIMIT:
        return Skip("too few episodes are cut by a limit that can be played again", ("longer recording",))
    limit = max(cut)
    first = limit // 3
    if cut.count(limit) < LEAST_EPISODES or not first:
        return None
    lengths = [n for n in (_after_reset(world, first, limit, i) for i in range(TRIES)) if n is not None][:2]
    if len(lengths) < 2 or any(n != limit - first for n in lengths):
        return None
    return Symptom(
        f"after {first} steps and a reset the next episode is cut after {limit - first} steps, not after {limit}",
        "truncated",
        {"limit_steps": limit, "played_before_steps": first, "cut_after_steps": limit - first},
    )


def _after_reset(world: World, first: int, limit: int, number: int) -> int | None:
    """Steps to truncation after `first` steps and a reset; None where something else ended one of the two."""
    choose, env = Chooser(world.action_space, world.seed + number), world.make()
    try:
        with contextlib.suppress(Exception):
            for steps in (first, limit + 1):
                seen, info = env.reset(seed=world.seed + number)
                for step in range(1, steps + 1):
                    seen, _, terminated, truncated, info = env.step(choose(seen, info))
                    if terminated or truncated:
                        return step if truncated and not terminated and steps > limit else None
        return None
    finally:
        close_quietly(env)
