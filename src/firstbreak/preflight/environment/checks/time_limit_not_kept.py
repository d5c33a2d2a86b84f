"""The check `time-limit-not-kept`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Onset, Severity, Skip
from ..recorded import NOTHING
from ..world import World


@check(
    "PEN065",
    "time-limit-not-kept",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Enforce the declared limit.",
)
def look(world: World) -> Answer:
    """Episodes run past the limit that the environment declares.

    What is measured:
        The longest recorded episode against max_episode_steps of the specification.

    Why it hurts:
        Returns and values are compared on another horizon than declared; episodes may never end.

    Usual causes:
        A wrapper TimeLimit left out; an own counter compared with == and stepped over.

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
        return None
    return Symptom(
        f"an episode runs for {longest} steps although the limit is declared as {limit} steps",
        "truncated",
        {"limit_steps": limit, "longest_steps": longest},
        at=Onset(limit, limit, "env_steps"),
    )
