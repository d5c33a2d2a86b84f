"""The check `other-agent-never-ends`."""

from __future__ import annotations

import contextlib
from typing import Any

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..recorded import NOTHING
from ..recording import close_quietly
from ..world import World

LEAST_MORE, TIMES_LIMIT = 500, 3
"""Steps that the others are played on: so many, and so many times the length at which the first was cut."""


@check(
    "PEN084",
    "other-agent-never-ends",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Set truncated for every live agent when the time limit is reached.",
    explained_by=("agent-left-out", "other-agent-malformed"),
)
def look(world: World) -> Answer:
    """When the time limit cuts the first agent's episode, the others play on and never end.

    What is measured:
        A parallel environment is played until the first agent is cut by truncated; whoever is still live is then
        played on for three times as long, 500 steps at least.

    Why it hurts:
        The environment is not over while an agent is live: it is not reset, returns of the others grow without end,
        and their critic learns that nothing ever ends.

    Usual causes:
        The flag is set for one agent by name, or in a loop that stops early; a limit counted for each agent, of which
        one is never raised.

    What to try:
        Print both dictionaries of flags in the step of the limit.

    When it is harmless:
        A task in which an agent leaves for good while the others go on, until an end of their own.

    References:
        PettingZoo, parallel API: `agents` is empty when the episode is over.
    """
    if world.kind != "parallel":
        return Skip("there is one agent only")
    if not world.episodes:
        return NOTHING
    cut = [e for e in world.episodes if e.ended and e.truncated[-1] and not e.terminated[-1] and e.seed is not None]
    if not cut:
        return Skip("no episode was cut by a time limit", ("longer recording",))
    episode = min(cut, key=lambda e: e.length)
    more = max(LEAST_MORE, TIMES_LIMIT * episode.length)
    left = _left_after((world.make_raw or world.make)(), episode.actions, episode.seed, more)
    if not left:
        return None
    return Symptom(
        f"agent {str(left[0])[:40]} plays on {more} steps after the first was cut at step {episode.length}",
        "truncated",
        {"agents_left": len(left), "first_cut_steps": episode.length, "played_on_steps": more},
    )


def _left_after(env: Any, actions: tuple[Any, ...], seed: int | None, more: int) -> list[Any]:
    """The agents that are still live after these actions of the first one and `more` steps of whoever is left."""
    try:
        with contextlib.suppress(Exception):
            env.reset(seed=seed)
            first = env.possible_agents[0]
            for step in range(len(actions) + more):
                if not env.agents:
                    return []
                chosen = {agent: env.action_space(agent).sample() for agent in env.agents}
                if first in chosen and step < len(actions):
                    chosen[first] = actions[step]
                env.step(chosen)
            return [agent for agent in env.agents if agent != first]
        return []
    finally:
        close_quietly(env)
