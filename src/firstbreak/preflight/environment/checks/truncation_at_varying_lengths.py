"""The check `truncation-at-varying-lengths`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..recorded import NOTHING
from ..world import World

LEAST_EPISODES = 5
LEAST_FRAC = 0.2
"""Share of the ended episodes."""


@check(
    "PEN068",
    "truncation-at-varying-lengths",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Return terminated for the goal and for failures; truncated only for limits of time.",
    explained_by=("episodes-of-one-step",),
)
def look(world: World) -> Answer:
    """Episodes are cut by truncated at varying lengths: genuine ends flagged as time limits.

    What is measured:
        The lengths of episodes that end by truncated, against each other and against the declared limit.

    Why it hurts:
        Trainers bootstrap from the value after a truncation. At a goal or a crash that value is made up, and it feeds
        itself.

    Usual causes:
        The goal or the failure sets truncated instead of terminated; the two return values exchanged.

    What to try:
        Return terminated for whatever ends the task.

    When it is harmless:
        Leaving a region that is no part of the task may be a truncation by design.

    References:
        RLinf pull request 661; Gymnasium, 'terminated and truncated'.
    """
    if not world.episodes:
        return NOTHING
    ended = [e for e in world.episodes if e.ended and not e.resets_by_itself]
    cut = np.array([e.length for e in ended if e.truncated[-1] and not e.terminated[-1]])
    if len(cut) < LEAST_EPISODES:
        return None if len(ended) >= LEAST_EPISODES else Skip("too few episodes ended", ("longer recording",))
    longest = max(int(cut.max()), world.time_limit or 0)
    early = cut[cut < longest]
    if len(np.unique(early)) < 3 or len(early) < LEAST_FRAC * len(ended):
        return None
    return Symptom(
        f"{len(early)} of {len(ended)} episodes are cut by truncated at {len(np.unique(cut))} different lengths "
        f"({cut.min()} to {cut.max()} steps)",
        "truncated",
        {
            "early": len(early),
            "episodes": len(ended),
            "shortest_steps": int(cut.min()),
            "longest_steps": int(cut.max()),
        },
    )
