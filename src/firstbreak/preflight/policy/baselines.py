"""What chance earns, what an expert earns, and whether the difference is more than luck."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .asking import Policy, plain

Array = NDArray[np.float64]

EPISODES = 100
BUDGET_S = 30.0
"""What one baseline may take; slow environments end with fewer episodes, and the interval says so."""
LONGEST_STEPS = 2000
"""Where an episode is cut that nothing else ends."""
RESAMPLES = 4000
LEAST_EPISODES = 10
"""Fewer episodes do not support a bootstrap."""


@dataclass(frozen=True)
class Comparison:
    """How the returns of two policies compare."""

    difference: float
    """Mean of the second less mean of the first."""
    low: float
    high: float
    """95 % interval of the difference, by resampling episodes of both."""
    better: float
    """Probability that an episode of the second beats one of the first; ties count half."""

    @property
    def clear(self) -> bool:
        """Whether the second is better beyond the interval."""
        return self.low > 0


def compare_returns(first: Array, second: Array, seed: int = 0) -> Comparison:
    """Compare returns `first` [n] with `second` [m] by a two-sample percentile bootstrap.

    Source: Efron & Tibshirani (1993), chapter 16 (two samples); Mann & Whitney (1947) for the probability.
    """
    draw = np.random.default_rng(seed)
    a = first[draw.integers(0, len(first), (RESAMPLES, len(first)))].mean(axis=1)
    b = second[draw.integers(0, len(second), (RESAMPLES, len(second)))].mean(axis=1)
    low, high = np.quantile(b - a, (0.025, 0.975))
    return Comparison(float(second.mean() - first.mean()), float(low), float(high), probability_better(first, second))


def finite(returns: Array | None) -> bool:
    """Whether there are returns [n] and all of them are numbers."""
    return returns is not None and len(returns) > 0 and bool(np.isfinite(returns).all())


def probability_better(first: Array, second: Array) -> float:
    """Return P(second > first) + P(second = first) / 2 over all pairs, by ranks."""
    ordered = np.sort(first)
    below = np.searchsorted(ordered, second, side="left")
    equal = np.searchsorted(ordered, second, side="right") - below
    return float((below + 0.5 * equal).sum() / (len(first) * len(second)))


def earn(make: Callable[[], Any], policy: Policy | None, episodes: int = EPISODES, budget_s: float = BUDGET_S) -> Array:
    """Return the undiscounted returns of `episodes` episodes, played at random when `policy` is None, [n]."""
    env = make()
    begin, returns = time.monotonic(), list[float]()
    try:
        env.action_space.seed(0)
        for seed in range(episodes):
            returns.append(_episode(env, policy, seed))
            if time.monotonic() - begin > budget_s:
                break
    finally:
        env.close()
    return np.array(returns)


def _episode(env: Any, policy: Policy | None, seed: int) -> float:
    observation, total = env.reset(seed=seed)[0], 0.0
    for _ in range(LONGEST_STEPS):
        action = env.action_space.sample() if policy is None else plain(policy(observation))
        observation, reward, terminated, truncated, _ = env.step(action)
        total += float(reward)
        if terminated or truncated:
            break
    return total


def proportional(
    target: float | Sequence[float],
    gain: float | Sequence[float],
    observation: Sequence[int] | None = None,
    action: Sequence[int] | None = None,
    *,
    low: float = -1.0,
    high: float = 1.0,
    size: int | None = None,
) -> Policy:
    """Build a proportional controller: action[j] = gain · (target - observation[i]), clipped to [low, high].

    Args:
        target: the value each chosen observation entry should take.
        gain: one gain for all, one per entry, or a matrix [entries, actions].
        observation: indices of the entries that are controlled; all by default.
        action: indices of the action entries that they drive, one each; the first ones by default.
        size: length of the action; the largest index of `action` plus one by default.
    """
    goal, gains = np.asarray(target, float), np.asarray(gain, float)

    def act(seen: Any) -> Any:
        flat = np.ravel(np.asarray(seen, float))
        error = goal - (flat if observation is None else flat[list(observation)])
        push = error @ gains if gains.ndim == 2 else gains * error
        where = list(range(len(push))) if action is None else list(action)
        answer = np.zeros(size or max(where) + 1, np.float32)
        np.add.at(answer, where, push)
        return np.clip(answer, low, high)

    return act
