"""The check `reset-observation-differs`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..columns import columns_text, name_of
from ..recorded import NOTHING
from ..world import Episode, World

LEAST_EPISODES, LEAST_STEPS = 5, 4
MOST_FRAC = 0.9
"""Share of the episodes whose first row must differ. Engineering default: by chance the two are equal."""


@check(
    "PEN082",
    "reset-observation-differs",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Build the observation of reset with the function that step uses.",
    explained_by=("observation-not-finite", "observation-of-wrong-form"),
)
def look(world: World) -> Answer:
    """What stays the same throughout an episode is something else in the observation of reset.

    What is measured:
        Entries of the observation that keep one value from the first step of an episode to its last, a value that
        differs between episodes: a goal, a target, a kind of task. Fires when reset returned another value in nine of
        ten episodes, and not always the same.

    Why it hurts:
        The first action of every episode is chosen for another goal than the one that is judged; relabelling of goals
        starts from a wrong row.

    Usual causes:
        Keys or slices exchanged in one of two places where observations are built; the goal drawn after the
        observation was made; the goal of the episode before.

    What to try:
        Print the entry after reset and after the first step.

    When it is harmless:
        When the goal is disclosed with the first step on purpose; a filler that is the same in every reset is not
        blamed.

    References:
        Plappert et al. 2018, arXiv 1802.09464 (observation, achieved goal, desired goal).
    """
    if not world.episodes:
        return NOTHING
    usable = [e for e in world.episodes if e.length >= LEAST_STEPS and not e.resets_by_itself]
    if len(usable) < LEAST_EPISODES:
        return Skip("too few episodes of some steps", ("longer recording",))
    kept = np.flatnonzero(_kept_through_episodes(usable))
    firsts, laters = (np.stack([e.observations[row, kept] for e in usable]) for row in (0, 1))
    told = (np.ptp(laters, axis=0) > 0) & (np.ptp(firsts, axis=0) > 0)
    off = (~np.isclose(firsts, laters, rtol=1e-5, atol=1e-8)).mean(axis=0)
    wrong = kept[told & (off >= MOST_FRAC)]
    if not len(wrong):
        return None
    return Symptom(
        f"{name_of(world, int(wrong[0]))} keeps one value through an episode, but reset returned another "
        f"({columns_text(wrong, 3)}; {len(usable)} episodes)"[:120],
        name_of(world, int(wrong[0])),
        {"columns": len(wrong), "episodes": len(usable), "differing_frac": float(off[told].max())},
    )


def _kept_through_episodes(episodes: list[Episode]) -> NDArray[np.bool_]:
    """Which columns [D] do not change between the first step of any episode and its end."""
    still = [
        np.isfinite(e.observations).all(0) & (np.ptp(e.observations[1 : e.length + 1], axis=0) == 0) for e in episodes
    ]
    return np.logical_and.reduce(still)
