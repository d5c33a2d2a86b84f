"""Playing without acting: what the environment does on its own when every action is zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .remembered import remembered
from .world import Array, World

STEPS = 200
STARTS = 5


@dataclass(frozen=True)
class Rest:
    """Runs with zero action from several starts."""

    runs: tuple[Array, ...]
    """One array of observations [L + 1, D] for each start; none was ended by terminated."""


def rest_of(world: World) -> Rest | None:
    """Return what `world` does under zero action, played once; None when it has no zero action or always ends soon."""
    return remembered(world, "rest", lambda: _rest(world))


def zero_action(space: Any) -> Any:
    """Return the action 0 of a Box that contains it, else None."""
    if not (hasattr(space, "low") and hasattr(space, "high")):
        return None
    low, high = np.asarray(space.low, float), np.asarray(space.high, float)
    return np.zeros(low.shape, dtype=space.dtype) if bool(((low <= 0) & (high >= 0)).all()) else None


def _rest(world: World) -> Rest | None:
    action = zero_action(world.action_space)
    seeds = [e.seed for e in world.episodes if e.seed is not None and not e.resets_by_itself][:STARTS]
    if action is None or len(seeds) < STARTS:
        return None
    runs: list[Array] = []
    for seed in seeds:
        try:
            episode = world.play([action] * STEPS, seed)
        except Exception:  # the check of extreme actions, or the recording, tells what it was
            return None
        if not episode.length or episode.terminated[-1] or not np.isfinite(episode.observations).all():
            return None  # a body that falls and ends the episode is no drift
        runs.append(episode.observations)
    return Rest(tuple(runs))
