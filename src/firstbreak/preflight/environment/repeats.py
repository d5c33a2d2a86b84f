"""Steps that return the observation of the step before, bit for bit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .world import Episode, World


def repeated_steps(world: World) -> tuple[int, NDArray[np.bool_]]:
    """Return the number of steps and, for each, whether it repeats the observation.

    Standstills at the beginning and at the end of an episode do not count: a world may start or end at rest.
    """
    marks = [_repeats(e) for e in world.episodes]
    joined = np.concatenate(marks) if marks else np.zeros(0, bool)
    return len(joined), joined


def standstill(episode: Episode) -> int:
    """Return how many steps at the end of `episode` did not change the observation any more."""
    moving = np.flatnonzero(~_equal(episode))
    return episode.length - (int(moving[-1]) + 1 if len(moving) else 0)


def _repeats(episode: Episode) -> NDArray[np.bool_]:
    marks = _equal(episode)
    still = standstill(episode)
    if still > 1:  # one repeat at the end may be a repeat like any other
        marks[episode.length - still :] = False
    opening = int(np.argmin(marks)) if marks.size and not marks.all() else 0
    if opening > 1:
        marks[:opening] = False
    return marks


def _equal(episode: Episode) -> NDArray[np.bool_]:
    return (episode.observations[1:] == episode.observations[:-1]).all(axis=1)
