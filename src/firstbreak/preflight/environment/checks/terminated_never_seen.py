"""The check `terminated-never-seen`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..recorded import NOTHING
from ..world import World

LEAST_EPISODES = 3


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
        The flags of all recorded episodes.

    Why it hurts:
        Under random play neither success nor failure ever ends an episode. If one of them should, its test does not
        work.

    Usual causes:
        A task without an end; a goal that is too hard to hit at random; a failure test that is never true.

    What to try:
        Bring the environment into a state that should end it and look at the flag.

    When it is harmless:
        Many control tasks have no end but the limit.

    References:
        Pardo et al. 2018, arXiv 1712.00378 (time limits).
    """
    if not world.episodes:
        return NOTHING
    ended = [e for e in world.episodes if e.ended]
    if len(ended) < LEAST_EPISODES or any(e.terminated[-1] for e in ended):
        return None
    longest = max(e.length for e in ended)
    return Symptom(
        f"all {len(ended)} episodes end by truncated, the longest after {longest} steps; terminated is never True",
        "terminated",
        {"episodes": len(ended), "longest_steps": longest},
    )
