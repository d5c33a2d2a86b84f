"""The check `resets-itself-inside-step`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..copies import like_starts
from ..restarts import restarts_of
from ..starts import differ
from ..trying import tried
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
    """A single environment starts a new episode inside step, and returns its first observation as if it followed.

    What is measured:
        Whether the last observations of terminated episodes lie among the starts while those just before do not, and
        whether it plays on afterwards. Where none is ever terminated: whether the state jumps, farther than other
        steps by half, and nearly always to the starts, with nothing of the state left behind. That is a warning, and a
        note where a time limit ends the episodes, since a task may go back to its start by design.

    Why it hurts:
        The last transition of every episode leads to a start; the terminal observation is lost, and resetting again
        throws a start away. Without an end the value of a failure is that of a fresh start.

    Usual causes:
        Code from a vector environment; a wrapper that resets.

    What to try:
        Return the last observation; leave resetting to the caller.

    When it is harmless:
        The goal is the start: then the observations before it are near it too. A continuing task that goes back to its
        start by design; a game that is played on after a point.

    References:
        Failure modes R15.
    """
    ended = [e for e in world.episodes if e.ended and e.length >= LEAST_STEPS]
    if world.kind == "vector":
        return Skip("a vector environment")
    if not any(e.terminated.any() for e in world.episodes) and (unsaid := _unsaid(world)) is not None:
        return unsaid
    if len(ended) < LEAST_EPISODES:
        return Skip(f"only {len(ended)} longer episodes ended")
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


def _unsaid(world: World) -> Symptom | None:
    """The symptom of an environment that begins anew inside step and never terminates, None where it does not."""
    seen = tried(lambda: restarts_of(world))
    if isinstance(seen, Skip) or not seen.sure:
        return None
    limited = any(e.ended for e in world.episodes) or world.time_limit is not None
    return Symptom(
        f"{seen.jumps} times in {seen.steps} steps the state jumps back among the starts, and no end is said",
        "observation",
        {"jumps": seen.jumps, "far_steps": seen.far, "steps": seen.steps, "time_limited": limited},
        severity=Severity.INFO if limited else Severity.WARNING,
    )
