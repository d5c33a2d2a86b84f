"""Whether the reward of a step is told better by the other steps of its episode than by other episodes.

Two looks, of which neither suffices. A quadratic of the episode's own steps against one of all others: a corner of a
kinked reward is told better by its own steps, too. And neighbours: each step is paired with the nearest one of its own
episode, some steps away, and with the nearest one of another; where the second is no further off, a reward that the
observation decides differs no more, whatever its form. A constant of an episode moves no choice and does not count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .transitions import transitions_of
from .world import Array, World

LEAST_EPISODES, MOST_EPISODES = 6, 40
ROWS_AN_EPISODE = 60
LEAST_PAIRS = 100
APART_STEPS = 3
"""Steps between the two of a pair within an episode: nearer ones are near in everything."""
MOST_COLUMNS = 12
"""In more dimensions nearest neighbours are far."""
ROWS_A_FEATURE = 2.0
RIDGE = 1e-3
"""Penalty per row on standardised features."""


@dataclass(frozen=True)
class Neighbours:
    """Median differences of rewards, over the spread of all rewards, of the pairs that can be compared."""

    within_sd: float
    between_sd: float
    pairs: int
    episodes: int


def reward_neighbours(world: World) -> Neighbours | None:
    """Measure `Neighbours`; None with too few episodes, pairs, or too many columns."""
    columns = transitions_of(world).columns
    usable = [e for e in world.episodes if e.length > 4 * APART_STEPS and not e.resets_by_itself][:MOST_EPISODES]
    if not 0 < len(columns) <= MOST_COLUMNS or len(usable) < LEAST_EPISODES:
        return None
    picks = [np.unique(np.linspace(0, e.length - 1, min(e.length, ROWS_AN_EPISODE)).astype(int)) for e in usable]
    x: Array = np.concatenate([e.observations[p + 1][:, columns] for e, p in zip(usable, picks, strict=True)])
    reward: Array = np.concatenate([e.rewards[p] for e, p in zip(usable, picks, strict=True)])
    owner = np.repeat(np.arange(len(usable)), [len(p) for p in picks])
    when = np.concatenate(picks)
    spread = float(reward.std())
    if not np.isfinite(x).all() or not np.isfinite(reward).all() or spread == 0:
        return None
    scale = x.std(axis=0)
    x = np.asarray((x - x.mean(axis=0)) / np.where(scale > 0, scale, 1.0), np.float64)
    distance = np.maximum((x**2).sum(1)[:, None] - 2 * x @ x.T + (x**2).sum(1)[None, :], 0.0)
    own = owner[:, None] == owner[None, :]
    mine = np.where(own & (np.abs(when[:, None] - when[None, :]) > APART_STEPS), distance, np.inf)
    others = np.where(own, np.inf, distance)
    near, far = mine.argmin(axis=1), others.argmin(axis=1)
    rows = np.arange(len(x))
    kept = np.isfinite(mine[rows, near]) & (others[rows, far] <= mine[rows, near])
    if int(kept.sum()) < LEAST_PAIRS:
        return None
    a, b = rows[kept], far[kept]
    gaps = _without_offsets(reward[a] - reward[b], owner[a], owner[b], len(usable))
    within = np.abs(reward[a] - reward[near[kept]])
    return Neighbours(
        float(np.median(within)) / spread, float(np.median(np.abs(gaps))) / spread, int(kept.sum()), len(usable)
    )


@dataclass(frozen=True)
class ByEpisode:
    """Held-out R² of the reward, pooled over episodes; each at most 1."""

    own: float
    others: float


def reward_by_episode(world: World) -> ByEpisode | None:
    """Measure `ByEpisode`; None where no episode is long enough for a model of its own."""
    columns = transitions_of(world).columns
    width, least = len(columns), ROWS_A_FEATURE * 2 * (2 * len(columns) + 1)
    usable = [e for e in world.episodes if e.length >= least and not e.resets_by_itself and np.ptp(e.rewards) > 0]
    usable = [e for e in usable if np.isfinite(e.observations).all() and np.isfinite(e.rewards).all()][:MOST_EPISODES]
    if not 0 < width <= MOST_COLUMNS or len(usable) < LEAST_EPISODES:
        return None
    seen = [e.observations[1 : e.length + 1][:, columns] for e in usable]
    pooled = np.concatenate(seen)
    scale = np.where(pooled.std(axis=0) > 0, pooled.std(axis=0), 1.0)
    made: list[tuple[Array, Array]] = [
        (_features((x - pooled.mean(axis=0)) / scale), e.rewards) for x, e in zip(seen, usable, strict=True)
    ]
    errors, power = np.zeros(2), 0.0
    for place, (x, y) in enumerate(made):
        judged = np.arange(len(x)) // 5 % 2 == 1
        rest = [part for i, part in enumerate(made) if i != place]
        theirs = np.concatenate([a for a, _ in rest]), np.concatenate([b - b.mean() for _, b in rest])
        truth = y[judged] - y[judged].mean()
        for k, (inputs, outputs) in enumerate([(x[~judged], y[~judged]), theirs]):
            guess = _fit(inputs, outputs - outputs.mean(), x[judged])
            errors[k] += float(((truth - guess + guess.mean()) ** 2).sum())
        power += float((truth**2).sum())
    if power <= 0:
        return None
    own, others = (float(v) for v in np.maximum(1 - errors / power, -1.0))
    return ByEpisode(own, others)


def _features(x: Array) -> Array:
    """1, x and x squared, side by side."""
    return np.concatenate([np.ones((len(x), 1)), x, x**2], axis=1)


def _fit(x: Array, y: Array, asked: Array) -> Array:
    """Ridge regression of `y` [n] on features `x` [n, f], at the rows `asked`."""
    gram = x.T @ x + RIDGE * len(x) * np.eye(x.shape[1])
    return asked @ np.linalg.solve(gram, x.T @ y)


def _without_offsets(gaps: Array, first: NDArray[np.intp], second: NDArray[np.intp], n: int) -> Array:
    """`gaps` [P] less what one constant for each of `n` episodes explains of them (least squares)."""
    rows = np.eye(n)[first] - np.eye(n)[second]
    return np.asarray(gaps - rows @ np.linalg.lstsq(rows, gaps, rcond=None)[0], np.float64)
