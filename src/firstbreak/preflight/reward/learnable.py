"""How much of a reward can be explained by what the agent sees and does, measured on episodes held out of the fit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .sample import RewardSample, discount

Array = NDArray[np.float64]
LEAST_STEPS = 1000
"""Steps under which a held-out fit has no useful error."""
LEAST_EPISODES = 10
MOST_ROWS = 6000
"""Rows that a fit uses: more cost time, and R2 is then known to about 0.01."""
WAVES = 160
"""Random Fourier features (Rahimi & Recht 2007): smooth functions of any shape, not only quadratics."""
HORIZONS = (1, 10)
"""Steps ahead whose discounted rewards are added up: the reward itself, and what the next moments bring."""
PENALTY = 1e-3
"""Ridge penalty per row on standardised features."""


@dataclass(frozen=True)
class Fit:
    """Held-out R2 and its 95 % bootstrap interval over episodes; below 0 means worse than the mean."""

    r2: float
    low: float
    high: float


@dataclass(frozen=True)
class Explained:
    """R2 by horizon with (observation, action, next observation), and with the inputs of the step before."""

    now: Fit
    ahead: Fit
    now_blind: Fit
    """R2 of the reward on (observation, action) only."""
    before: Fit
    """R2 of the reward on the transition before."""
    now_common: Fit
    """R2 of the reward on the same rows as `before`, so that the two can be compared."""
    ahead_other_actions: Fit
    """R2 of the reward ahead with the actions permuted between steps."""


@lru_cache(maxsize=4)
def explained(sample: RewardSample) -> Explained | None:
    """Fit the rewards of `sample`; None when it has no observations, too few rows, or nothing that varies.

    Kept for the last samples, because several checks ask.
    """
    rewards, observations, actions = sample.rewards, sample.observations, sample.actions
    if observations is None or actions is None or sample.next_observations is None:
        return None
    if rewards.size < LEAST_STEPS or len(sample.slices) < LEAST_EPISODES or not np.isfinite(rewards).all():
        return None
    if np.ptp(rewards) == 0 or not np.isfinite(observations).all():
        return None
    acts = _actions(sample)
    rows = _thin(np.arange(rewards.size))
    inner = [np.arange(s.start + 1, s.stop, dtype=np.int64) for s in sample.slices]
    later = _thin(np.concatenate(inner))
    ahead = np.concatenate([_ahead(rewards[s], sample.gamma, HORIZONS[1]) for s in sample.slices])
    moved = np.nan_to_num(sample.next_observations)
    shuffled = acts[np.random.default_rng(1).permutation(len(acts))]
    full, episode = np.hstack([observations, acts, moved]), sample.episode
    return Explained(
        now=held_out(full[rows], rewards[rows], episode[rows]),
        ahead=held_out(np.hstack([observations, acts])[rows], ahead[rows], episode[rows]),
        now_blind=held_out(np.hstack([observations, acts])[rows], rewards[rows], episode[rows]),
        before=held_out(full[later - 1], rewards[later], episode[later]),
        now_common=held_out(full[later], rewards[later], episode[later]),
        ahead_other_actions=held_out(np.hstack([observations, shuffled])[rows], ahead[rows], episode[rows]),
    )


def _thin(rows: Any) -> Any:
    if rows.size <= MOST_ROWS:
        return rows
    return rows[np.asarray(np.linspace(0, rows.size - 1, MOST_ROWS), dtype=np.int64)]


def _actions(sample: RewardSample) -> Array:
    """Actions [N, A]; discrete ones as indicators."""
    actions: Array = np.nan_to_num(np.asarray(sample.actions, dtype=np.float64)).reshape(sample.rewards.size, -1)
    if not sample.discrete_actions:
        return actions
    kinds = np.unique(actions[:, 0])[:64]
    return np.where(actions[:, :1] == kinds[None, :], 1.0, 0.0)


def _ahead(rewards: Array, gamma: float, horizon: int) -> Array:
    """Discounted sum of the next `horizon` rewards of each step [L], cut at the end of the episode."""
    whole = discount(np.concatenate([rewards, np.zeros(horizon)]), gamma)
    return whole[:-horizon] - gamma**horizon * whole[horizon:]


def held_out(inputs: Array, target: Array, episode: NDArray[np.int64], folds: int = 4) -> Fit:
    """R2 of `target` [n] on generic features of `inputs` [n, d], each episode predicted from fits without it."""
    features = _features(inputs)
    scale = features.std(axis=0)
    x = (features - features.mean(axis=0))[:, scale > 1e-9] / scale[scale > 1e-9]
    y = target - target.mean()
    fold = episode % folds
    parts = [(x[fold == k], y[fold == k]) for k in range(folds)]
    grams = [a.T @ a for a, _ in parts]
    loads = [a.T @ b for a, b in parts]
    guess = np.zeros(target.size)
    for k in range(folds):
        rows = target.size - len(parts[k][0])
        gram = sum(grams) - grams[k] + PENALTY * max(rows, 1) * np.eye(x.shape[1])
        guess[fold == k] = parts[k][0] @ np.linalg.solve(gram, sum(loads) - loads[k])
    guess += target.mean()
    labels = np.unique(episode, return_inverse=True)[1]
    error = np.bincount(labels, (target - guess) ** 2)
    spread = np.bincount(labels, (target - target.mean()) ** 2)
    random = np.random.default_rng(0)
    picks = random.integers(0, error.size, (200, error.size))
    drawn = 1 - error[picks].sum(1) / np.maximum(spread[picks].sum(1), 1e-300)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Fit(float(1 - error.sum() / max(spread.sum(), 1e-300)), float(low), float(high))


def _features(inputs: Array) -> Array:
    """Standardised inputs, their squares, products of pairs (up to 16 inputs), and random waves [n, f]."""
    scale = inputs.std(axis=0)
    x = np.clip((inputs - inputs.mean(axis=0))[:, scale > 1e-12] / scale[scale > 1e-12], -6, 6)
    if not x.shape[1]:
        return np.zeros((len(inputs), 1))
    parts = [x, x**2]
    if x.shape[1] <= 16:
        first, second = np.triu_indices(x.shape[1], 1)
        parts.append(x[:, first] * x[:, second])
    random = np.random.default_rng(0)
    waves = random.normal(size=(x.shape[1], WAVES)) / np.sqrt(x.shape[1])
    parts.append(np.cos(x @ waves + random.uniform(0, 2 * np.pi, WAVES)))
    return np.hstack(parts)
