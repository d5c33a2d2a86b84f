"""The check `episodes-very-short`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..recorded import NOTHING
from ..world import World

LEAST_EPISODES = 5
FEW_STEPS = 10


@check(
    "PEN069",
    "episodes-very-short",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.INFO,
    fix="Make the task more forgiving at the start, or begin closer to the goal.",
)
def look(world: World) -> Answer:
    """Under random play episodes last fewer than ten steps.

    What is measured:
        The median length of the recorded episodes that ended.

    Why it hurts:
        Most of the task is never seen; the agent dies before its actions can pay.

    Usual causes:
        Ends that are too strict; starts too close to failure; a frame skip that is too large.

    What to try:
        Start in easier states, forgive more, or shorten the frame skip.

    When it is harmless:
        Short tasks: a hand of cards, a small maze.

    References:
        Pardo et al. 2018, arXiv 1712.00378 (time limits).
    """
    if not world.episodes:
        return NOTHING
    lengths = np.array([e.length for e in world.episodes if e.ended])
    if len(lengths) < LEAST_EPISODES or float(np.median(lengths)) >= FEW_STEPS or lengths.max() <= 1:
        return None
    return Symptom(
        f"random play lasts {np.median(lengths):.0f} steps per episode (median of {len(lengths)} episodes)",
        "terminated",
        {"median_steps": float(np.median(lengths)), "longest_steps": int(lengths.max()), "episodes": len(lengths)},
    )
