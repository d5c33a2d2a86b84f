"""The check `time-limit-not-kept`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Onset, Severity, Skip
from ..recorded import NOTHING
from ..world import World

LEAST_CUT = 5
"""Truncated episodes of one length that are no accident."""


@check(
    "PEN065",
    "time-limit-not-kept",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Enforce the declared limit.",
)
def look(world: World) -> Answer:
    """Episodes run past the limit that the environment declares, or are always cut before it.

    What is measured:
        The longest recorded episode against max_episode_steps of the specification, and the one length at which all
        truncated episodes are cut, where it is a whole part of that.

    Why it hurts:
        Returns and values are compared on another horizon than declared; episodes may never end.

    Usual causes:
        A wrapper TimeLimit left out; an own counter compared with == and stepped over; steps counted by two layers,
        so that half of them are enough.

    What to try:
        Compare the counter with >=, or wrap with TimeLimit.

    When it is harmless:
        Never; correct the specification if the longer episode is meant.

    References:
        Gymnasium, wrappers.TimeLimit.
    """
    if not world.episodes:
        return NOTHING
    limit = world.time_limit
    if limit is None:
        return Skip("no time limit is declared")
    longest = max((e.length for e in world.all_episodes if not e.resets_by_itself), default=0)
    if longest <= limit:
        return _early(world, limit)
    return Symptom(
        f"an episode runs for {longest} steps although the limit is declared as {limit} steps",
        "truncated",
        {"limit_steps": limit, "longest_steps": longest},
        at=Onset(limit, limit, "env_steps"),
    )


def _early(world: World, limit: int) -> Symptom | None:
    cut = [e.length for e in world.all_episodes if e.ended and bool(e.truncated[-1]) and not e.resets_by_itself]
    if len(cut) < LEAST_CUT or min(cut) != max(cut) or cut[0] >= limit or limit % cut[0]:
        return None  # another limit, set on purpose by a layer further in, is no whole part of the declared one
    return Symptom(
        f"all {len(cut)} truncated episodes are cut at {cut[0]} steps although the limit is declared as {limit}",
        "truncated",
        {"limit_steps": limit, "cut_steps": cut[0], "episodes": len(cut)},
        severity=Severity.WARNING,
        at=Onset(cut[0], cut[0], "env_steps"),
    )
