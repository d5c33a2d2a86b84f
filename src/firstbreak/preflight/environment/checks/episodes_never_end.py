"""The check `episodes-never-end`."""

from __future__ import annotations

from typing import Any

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..recorded import NOTHING
from ..world import Episode, World

PATIENCE_STEPS = 5000
LEAST_STEPS = 2000
"""Common limits are 200 to 1000 steps; some games run to a few thousand."""
LONGEST_STEPS, LONGEST_S, LARGEST_BYTES = 108_000, 2.0, 100_000_000
"""Played on where steps are cheap: the limit of the Arcade Learning Environment, in frames; seconds; bytes."""


@check(
    "PEN066",
    "episodes-never-end",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Return terminated or truncated, or wrap the environment with a TimeLimit.",
    explained_by=("end-flag-lost", "resets-itself-inside-step"),
)
def look(world: World) -> Answer:
    """Episodes never end: neither terminated nor truncated is ever True, and no time limit is known.

    What is measured:
        All recorded episodes; when none has ended, one is played on for 5000 steps, and further where steps are cheap,
        up to 108,000 or two seconds.

    Why it hurts:
        No return is ever reported, resets never happen, and the agent sees one corner of the state space.

    Usual causes:
        A flag that is computed and not returned; a limit that was removed; a wrapper that drops it.

    What to try:
        Wrap with TimeLimit, or return the flag.

    When it is harmless:
        A continuing task that the trainer cuts by itself.

    References:
        Gymnasium, wrappers.TimeLimit.
    """
    if not world.episodes:
        return NOTHING
    if world.time_limit is not None or any(e.ended for e in world.episodes):
        return None
    usable = [e for e in world.episodes if e.seed is not None and e.length]
    longest = max((e.length for e in world.episodes), default=0)
    if usable and longest < PATIENCE_STEPS and not world.episodes[0].resets_by_itself:
        actions = [a for e in usable for a in e.actions]
        played = _played_on(world, [actions[i % len(actions)] for i in range(_patience(world))], usable[0].seed)
        if played is not None and played.ended:
            return None
        longest = max(longest, played.length if played is not None else 0)
    if longest < LEAST_STEPS:
        return Skip(f"no episode ended within {longest} steps", ("longer recording",), withholds=True)
    return Symptom(
        f"no episode ended within {longest} steps, and no time limit is declared",
        "terminated",
        {"longest_steps": longest, "episodes": len(world.episodes)},
    )


def _patience(world: World) -> int:
    """Steps that an episode is played on."""
    cost = max(float(world.facts.get("seconds_per_step", 1e-3)), 1e-7)
    row = 8 * max(1, world.episodes[0].observations.shape[1])
    return max(PATIENCE_STEPS, int(min(LONGEST_STEPS, LONGEST_S / cost, LARGEST_BYTES / row)))


def _played_on(world: World, actions: list[Any], seed: int | None) -> Episode | None:
    """Play these actions; None when the environment raises on the way, which other checks report."""
    try:
        return world.play(actions, seed)
    except Exception:
        return None
