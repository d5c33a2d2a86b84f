"""The action sweep: from the same state, one action dimension is moved over its range and held, and the rest is kept.

Each run is played afresh from a seed and a recorded prefix, so that no two runs share a state and all draw the same
random numbers. Without that a sweep measures the state it has wandered to.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .columns import IMAGE_COLUMNS
from .remembered import remembered
from .world import Array, Episode, World

HOLD_STEPS = 8
"""Steps an action is held: an effect may pass through a velocity, a filter or a delay before it shows."""
DEEPEST = 40
"""Longest prefix, in steps."""
BUDGET_S = 2.0
"""What all runs together may take; slow environments are swept from fewer states."""
MOST_STATES_BOX = 6
MOST_STATES_DISCRETE = 64
LEAST_STATES = 2
SLOW_VALUES = 3
"""Values per dimension where even the least number of states breaks the budget."""
MOST_ACTIONS = 32
"""Discrete actions beyond this number are not swept."""
UNBOUNDED_REACH = 10.0
"""How far an unbounded dimension is moved."""


@dataclass(frozen=True)
class Sweep:
    """What came of it: S states, A action dimensions, V values each, held for H steps."""

    values: tuple[Array, ...]
    """A arrays [V]: the values each dimension took."""
    before: Array
    """[S, D]: the observation of each state before the action."""
    seen: Array
    """[S, A, V, H, D]: the observations that followed; the last one is repeated when the episode ended."""
    rewards: Array
    """[S, A, V, H]; 0 after the end."""
    lengths: Array
    """[S, A, V]: steps until the end, H when it did not end."""
    discrete: bool

    @property
    def outcomes(self) -> Array:
        """Everything that can show an effect, [S, A, V, H * D + H + 1]."""
        head = self.seen.shape[:3]
        return np.concatenate([self.seen.reshape(*head, -1), self.rewards, self.lengths[..., None]], axis=-1)

    @property
    def states(self) -> int:
        """Number of states swept from."""
        return len(self.before)


@dataclass(frozen=True)
class NoSweep:
    """Why there is no sweep."""

    reason: str


def sweep_of(world: World) -> Sweep | NoSweep:
    """Return the action sweep of `world`, done once."""
    return remembered(world, "sweep", lambda: _sweep(world))


def axis_values(space: Any) -> list[Array] | None:
    """Return the values each action dimension is moved to; None for spaces that are neither Box nor discrete."""
    if hasattr(space, "low") and hasattr(space, "high"):
        low, high = np.ravel(np.asarray(space.low, float)), np.ravel(np.asarray(space.high, float))
        count = 9 if len(low) <= 2 else 5
        low = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - UNBOUNDED_REACH, -UNBOUNDED_REACH))
        high = np.where(np.isfinite(high), high, low + 2 * UNBOUNDED_REACH)
        return [np.linspace(a, b, count) for a, b in zip(low, high, strict=True)]
    if hasattr(space, "nvec"):
        sizes = [int(n) for n in np.ravel(space.nvec)]
        most = min(max(sizes), 5)
        return [np.floor(np.linspace(0, n - 1, most)) for n in sizes]
    if hasattr(space, "n") and not getattr(space, "shape", ()):
        return [np.arange(min(int(space.n), MOST_ACTIONS), dtype=float) + int(getattr(space, "start", 0))]
    return None


def with_value(space: Any, action: Any, dimension: int, value: float) -> Any:
    """Return `action` with one entry replaced, in the type that `space` asks for."""
    if not getattr(space, "shape", ()):
        return space.dtype.type(value)
    changed = np.array(action, dtype=space.dtype, copy=True)
    changed.reshape(-1)[dimension] = value
    return changed


def _sweep(world: World) -> Sweep | NoSweep:
    axes = axis_values(world.action_space)
    if axes is None:
        return NoSweep("the action space is neither a Box nor discrete")
    if not axes:
        return NoSweep("the action space has no dimension")
    try:
        return _swept(world, axes)
    except Exception as error:  # the check of extreme actions, or the recording, tells what it was
        return NoSweep(f"an action raised {type(error).__name__}: {error}"[:120])


def _swept(world: World, axes: list[Array]) -> Sweep | NoSweep:
    runs = _starts(world)
    if not runs:
        return NoSweep("no recorded episode has a seed to start again from")
    discrete = not hasattr(world.action_space, "low")
    begin = time.perf_counter()
    seed, actions = runs[0][0], [*runs[0][1], runs[0][2]]
    if not _same(world.play(actions, seed), world.play(actions, seed)):
        return NoSweep("the same seed and actions do not repeat the same observations")
    cost = max((time.perf_counter() - begin) / 2, 1e-6) * sum(len(v) for v in axes)
    if not discrete and LEAST_STATES * cost > BUDGET_S:
        axes = [np.linspace(v[0], v[-1], SLOW_VALUES) for v in axes]
        runs = sorted(runs, key=lambda run: len(run[1]))
    most = MOST_STATES_DISCRETE if discrete else MOST_STATES_BOX
    wanted = int(np.clip(BUDGET_S / cost, LEAST_STATES, most))
    return _collect(world, axes, runs[:wanted], discrete)


def _starts(world: World) -> list[tuple[int, list[Any], Any]]:
    """Seed, prefix and the action recorded next, spread over episodes and depths."""
    draw = np.random.default_rng(1)  # fixed: the same world must get the same sweep
    usable = [e for e in world.episodes if e.seed is not None and e.length >= 1 and not e.resets_by_itself]
    starts: list[tuple[int, list[Any], Any]] = []
    for i in range(MOST_STATES_DISCRETE if usable else 0):
        episode = usable[i % len(usable)]
        depth = int(draw.integers(0, min(episode.length, DEEPEST)))
        assert episode.seed is not None
        starts.append((episode.seed, list(episode.actions[:depth]), episode.actions[depth]))
    return starts


def _same(a: Episode, b: Episode) -> bool:
    return a.observations.shape == b.observations.shape and bool(
        np.array_equal(a.observations, b.observations, equal_nan=True)
        and np.array_equal(a.rewards, b.rewards, equal_nan=True)
    )


def _collect(world: World, axes: Sequence[Array], runs: Sequence[tuple[int, list[Any], Any]], discrete: bool) -> Sweep:
    before: list[Array] = []
    rows: list[list[list[tuple[Array, Array, float]]]] = []
    for seed, prefix, usual in runs:
        per_axis: list[list[tuple[Array, Array, float]]] = []
        start = np.zeros(0)
        for d, values in enumerate(axes):
            held = [
                world.play([*prefix, *[with_value(world.action_space, usual, d, v)] * HOLD_STEPS], seed) for v in values
            ]
            start = _thin(held[0].observations[len(prefix)][None])[0]
            per_axis.append([_tail(e, len(prefix)) for e in held])
        before.append(start)
        rows.append(per_axis)
    most = max(len(v) for v in axes)
    seen = np.array([[[v[0] for v in _filled(a, most)] for a in s] for s in rows])
    rewards = np.array([[[v[1] for v in _filled(a, most)] for a in s] for s in rows])
    lengths = np.array([[[v[2] for v in _filled(a, most)] for a in s] for s in rows])
    return Sweep(tuple(axes), np.array(before), seen, rewards, lengths, discrete)


def _filled(held: list[tuple[Array, Array, float]], most: int) -> list[tuple[Array, Array, float]]:
    return held + [held[-1]] * (most - len(held))


def _tail(episode: Episode, prefix: int) -> tuple[Array, Array, float]:
    """Observations [H, D], rewards [H] and length of what followed the prefix, filled up to H steps."""
    seen = _thin(episode.observations[prefix + 1 :])
    steps = len(seen)
    pad = HOLD_STEPS - steps
    if not steps:
        seen = _thin(episode.observations[-1:])
        pad = HOLD_STEPS - 1
    seen = np.concatenate([seen, np.repeat(seen[-1:], pad, axis=0)])
    rewards = np.concatenate([episode.rewards[prefix:], np.zeros(HOLD_STEPS - steps)])
    return np.nan_to_num(seen), np.nan_to_num(rewards), float(steps)


def _thin(rows: Array) -> Array:
    """Images [h, D] as 32 fixed random projections: enough to tell whether any pixel differs."""
    if rows.shape[1] < IMAGE_COLUMNS:
        return rows
    weights = np.random.default_rng(2).normal(size=(rows.shape[1], 32))
    return rows @ weights


def effects(sweep: Sweep) -> Array:
    """Return the largest difference that moving each action dimension makes in each observation column, [A, D]."""
    span = np.asarray(sweep.seen.max(axis=2) - sweep.seen.min(axis=2), float)
    return span.max(axis=(0, 2))


def reward_effects(sweep: Sweep) -> Array:
    """Return the largest difference that moving each action dimension makes in the reward of a step, [A]."""
    span = np.asarray(sweep.rewards.max(axis=2) - sweep.rewards.min(axis=2), float)
    return span.max(axis=(0, 2))


def without_effect(sweep: Sweep) -> list[int]:
    """Return the action dimensions whose value changed nothing at all from any state."""
    outcomes = sweep.outcomes
    span = outcomes.max(axis=2) - outcomes.min(axis=2)
    return [int(d) for d in np.flatnonzero((span == 0).all(axis=(0, 2)))]
