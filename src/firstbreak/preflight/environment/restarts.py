"""Jumps of an environment's state back among its starts, in the middle of an episode that says no end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .remembered import remembered
from .starts import starts_of
from .world import Array, Episode, World

LEAST_STARTS = 8
"""Starts seen, so that their range is known."""
LEAST_JUMPS = 8
"""Jumps seen; one or two may be a rare event of the task."""
MARGIN_FRAC = 0.5
"""How far beyond the starts seen another may lie: of 13 normal draws the range then reaches 3.4 deviations."""
ORDINARY_FRAC = 0.999
"""Quantile of the steps that lead nowhere near the starts; one in a thousand may be a start beyond the margin."""
FARTHER = 1.5
"""A jump is farther than ordinary steps by this factor. Engineering default: continuous motion reaches 1."""
JUMPS_FRAC = 0.9
"""Share of all moves as far as that which lead among the starts. Engineering default: a teleport leads anywhere."""
PERSISTS = 4.0
"""An entry whose starts spread over this many ordinary steps, and which never moves farther, was not drawn anew."""


@dataclass(frozen=True)
class Restarts:
    """What the episodes of a world show about ways back among the starts."""

    jumps: int
    """Steps that lead from outside the starts into them, farther than any ordinary step."""
    far: int
    """All steps as far as that, wherever they lead."""
    steps: int

    @property
    def sure(self) -> bool:
        """Whether there are several, and nearly all steps as far as that lead among the starts."""
        return self.jumps >= LEAST_JUMPS and self.jumps >= JUMPS_FRAC * self.far


NONE = Restarts(0, 0, 0)


def restarts_of(world: World) -> Restarts:
    """Return the jumps back among the starts, counted once.

    Raises:
        Exception: whatever `reset` raised.
    """
    return remembered(world, "restarts", lambda: _restarts(world))


def _restarts(world: World) -> Restarts:
    told = starts_of(world)
    first = [e.observations[0] for e in world.episodes]
    starts = np.vstack([told.fresh, *told.seeds, *first])
    starts = np.unique(starts[np.isfinite(starts).all(axis=1)], axis=0)
    return NONE if len(starts) < LEAST_STARTS else jumps_back(starts, world.episodes)


def jumps_back(starts: Array, episodes: Sequence[Episode]) -> Restarts:
    """Count the steps of `episodes` that jump back among `starts` [S, D]; the last step of a said end is left out."""
    low, high = starts.min(axis=0), starts.max(axis=0)
    slack = MARGIN_FRAC * (high - low) + 1e-6 * np.maximum(np.abs(low), np.abs(high))
    moves, into = list[Array](), list[NDArray[np.bool_]]()
    for episode in episodes:
        seen = episode.observations[: -1 if episode.ended else None]
        if len(seen) < 2 or not np.isfinite(seen).all():
            continue
        inside = ((seen >= low - slack) & (seen <= high + slack)).all(axis=1)
        moves.append(np.abs(np.diff(seen, axis=0)))
        into.append(inside[1:] & ~inside[:-1])
    if not moves:
        return NONE
    move, entry = np.concatenate(moves), np.concatenate(into)
    if entry.sum() < LEAST_JUMPS or entry.all():
        return Restarts(0, 0, len(move))
    ordinary = np.quantile(move[~entry], ORDINARY_FRAC, axis=0)
    reach = np.maximum(ordinary, 1e-9 * np.maximum(np.abs(high), 1.0))
    far = (move > FARTHER * reach).any(axis=1)
    jumps = entry & far
    if jumps.any() and _persists(move[jumps], high - low, ordinary):
        return Restarts(0, int(far.sum()), len(move))
    return Restarts(int(jumps.sum()), int(far.sum()), len(move))


def _persists(jumps: Array, spread: Array, ordinary: Array) -> bool:
    """Whether an entry that a reset draws anew went on as before in all `jumps` [J, D]: then only a part was moved."""
    drawn = (spread > 0) & (spread > PERSISTS * ordinary)
    return bool((drawn & (jumps <= ordinary).all(axis=0)).any())
