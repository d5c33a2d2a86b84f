"""Recorded transitions side by side: observation, action, what came before and what came after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import columns_of
from .predictability import blocks_held_out, held_out_r2
from .remembered import remembered
from .world import Array, Episode, World

MOST_ROWS = 3000
MOST_COLUMNS = 200
LEAST_ROWS = 300
"""Fewer transitions cannot hold a third out and still fit a hundred features."""


@dataclass(frozen=True)
class Transitions:
    """n transitions that each have a step before them in their episode; constant columns are left out."""

    columns: NDArray[np.intp]
    """[D]: index of each kept observation column."""
    before: Array
    """[n, D]: the observation one step earlier."""
    action_before: Array
    """[n, A]: the action one step earlier; discrete actions as one-hot."""
    now: Array
    """[n, D]"""
    action: Array
    """[n, A]"""
    after: Array
    """[n, D]: the next observation."""
    reward: Array
    """[n]"""
    episode: NDArray[np.intp]
    """[n]: the number of the episode among those recorded."""
    held_out: NDArray[np.bool_]
    """[n]: rows kept for judging."""

    @property
    def enough(self) -> bool:
        """Whether there are enough rows and not too many columns to say something."""
        return len(self.now) >= LEAST_ROWS and 0 < len(self.columns) <= MOST_COLUMNS


@dataclass(frozen=True)
class Forecast:
    """Held-out share of variance explained, each [D], in [-1, 1]; NaN where there is nothing to explain."""

    next_value: Array
    """The next observation from observation and action."""
    change_blind: Array
    """The change of the observation from the observation alone."""
    change: Array
    """... from observation and action."""
    change_late: Array
    """... from observation and the action one step earlier."""
    change_history: Array
    """... from observation, action, and the observation and action one step earlier."""


def transitions_of(world: World) -> Transitions:
    """Return the recorded transitions of `world`, computed once."""
    return remembered(world, "transitions", lambda: _transitions(world))


def forecast_of(world: World) -> Forecast | None:
    """Return how well observations of `world` can be forecast, computed once; None when there is too little data."""
    return remembered(world, "forecast", lambda: _forecast(transitions_of(world)))


def _transitions(world: World) -> Transitions:
    kept = np.flatnonzero(~columns_of(world).constant)
    parts = [_one(e, kept, world.action_space) for e in world.episodes if e.length >= 2]
    if len(kept) > MOST_COLUMNS or not parts:
        parts = [_one(e, kept[:0], world.action_space) for e in world.episodes[:1]]
        kept = kept[:0]
    episode = np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts])
    before, action_before, now, action, after, reward = (np.concatenate(p) for p in zip(*parts, strict=True))
    good = np.isfinite(np.concatenate([before, now, after, reward[:, None]], axis=1)).all(axis=1)
    rows = np.flatnonzero(good)[:MOST_ROWS]
    return Transitions(
        kept,
        before[rows],
        action_before[rows],
        now[rows],
        action[rows],
        after[rows],
        reward[rows],
        episode[rows],
        blocks_held_out(len(rows)),
    )


def _one(episode: Episode, kept: NDArray[np.intp], space: Any) -> tuple[Array, ...]:
    # A world that resets itself returns a start as the last next observation.
    end = episode.length - int(episode.resets_by_itself)
    seen, acted = episode.observations[:, kept], action_columns(episode.action_array, space)
    return (
        seen[0 : max(end - 1, 0)],
        acted[0 : max(end - 1, 0)],
        seen[1 : max(end, 1)],
        acted[1 : max(end, 1)],
        seen[2 : max(end + 1, 2)],
        episode.rewards[1 : max(end, 1)],
    )


def action_columns(actions: Array, space: Any) -> Array:
    """Return `actions` [L, A] with discrete ones as one-hot vectors: their numbers have no order."""
    n = int(getattr(space, "n", 0)) if not getattr(space, "shape", ()) else 0
    if not 0 < n <= 64 or actions.shape[1] != 1:
        return actions
    index = np.clip((actions[:, 0] - int(getattr(space, "start", 0))).astype(int), 0, n - 1)
    return np.eye(n)[index]


def _forecast(t: Transitions) -> Forecast | None:
    if not t.enough:
        return None
    change = t.after - t.now

    def explained(*inputs: Array) -> Array:
        return held_out_r2(np.concatenate(inputs, axis=1), change, t.held_out)

    return Forecast(
        held_out_r2(np.concatenate([t.now, t.action], axis=1), t.after, t.held_out),
        explained(t.now),
        explained(t.now, t.action),
        explained(t.now, t.action_before),
        explained(t.now, t.action, t.before, t.action_before),
    )
