"""The check `resets-itself-inside-step`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..copies import like_starts
from ..starts import differ
from ..world import World

LEAST_EPISODES = 8
LEAST_STEPS = 5
LAST_FRAC = 0.95
BEFORE_FRAC = 0.5
"""Nearly all ends among the starts, and most states one step earlier not: no dynamics jumps like that by itself."""


@check(
    "PEN037",
    "resets-itself-inside-step",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Return the last observation of the episode, and do not reset in step.",
)
def look(world: World) -> Answer:
    """A single environment starts a new episode inside step and returns its first observation with the end.

    What is measured:
        Whether the last observations of terminated episodes lie among the starts while those just before do not, and
        whether it plays on afterwards.

    Why it hurts:
        The last transition of every episode leads to a start; the terminal observation is lost, and resetting again
        throws a start away.

    Usual causes:
        Code from a vector environment; a wrapper that resets.

    What to try:
        Return the last observation; leave resetting to the caller.

    When it is harmless:
        The goal is the start: then the observations before it are near it too.

    References:
        Failure modes R15.
    """
    ended = [e for e in world.episodes if e.ended and e.length >= LEAST_STEPS]
    if world.kind == "vector" or len(ended) < LEAST_EPISODES:
        return Skip("a vector environment" if world.kind == "vector" else f"only {len(ended)} longer episodes ended")
    starts = np.array([e.observations[0] for e in world.episodes])
    if not differ(starts[:1], starts[-1:]) or len(np.unique(starts, axis=0)) < LEAST_EPISODES:
        return Skip("starts do not vary, so that ends among them say nothing")
    finals = np.array([e.observations[-1] for e in ended])
    if len(np.unique(finals, axis=0)) < LEAST_EPISODES:
        return None  # made up, or one place: starts vary
    last = float(like_starts(world, np.array([e.observations[-1] for e in ended])).mean())
    before = float(like_starts(world, np.array([e.observations[-2] for e in ended])).mean())
    if last < LAST_FRAC or before > BEFORE_FRAC:
        return None
    return Symptom(
        f"{100 * last:.0f} % of {len(ended)} last observations are starts; {100 * before:.0f} % of those before are",
        "observation",
        {"episodes": len(ended), "last_like_start_frac": last, "before_like_start_frac": before},
    )
