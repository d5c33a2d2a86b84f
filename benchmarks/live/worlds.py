"""Environments in which a fault can be switched on, and that keep the true return of every episode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np

from firstbreak.monitor.world import World, watched

NOISE = 30.0
NAN_EVERY = 200


@dataclass
class Truth:
    """What really happened in all copies: (steps taken by then, return under the true reward) of each episode."""

    steps: int = 0
    episodes: list[tuple[int, float]] = field(default_factory=list)
    began: float = float("nan")
    """Where the fault was switched on: environment steps, or updates of a language model."""
    fault: str = ""
    """The fault that is on; switched by the campaign."""


class Faulty(gym.Wrapper[Any, Any, Any, Any]):
    """Passes everything on, changed by the fault that is on. The truth is kept apart from what the trainer sees."""

    def __init__(self, env: gym.Env[Any, Any], truth: Truth, spread: float, seed: int) -> None:
        super().__init__(env)
        self.truth, self.spread = truth, spread
        self.total = 0.0
        self.generator = np.random.default_rng(seed)

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        self.total = 0.0
        obs, info = self.env.reset(**kwargs)
        return self.seen(obs), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        if self.truth.fault == "action-swapped":
            action = self.opposite(action)
        obs, reward, terminated, truncated, info = self.env.step(action)
        self.total += float(reward)
        self.truth.steps += 1
        if terminated or truncated:
            self.truth.episodes.append((self.truth.steps, self.total))
        return self.seen(obs), self.paid(float(reward)), terminated, truncated, info

    def opposite(self, action: Any) -> Any:
        space = self.env.action_space
        if isinstance(space, gym.spaces.Discrete):
            return int(space.n) - 1 - int(action)
        return np.asarray(space.high + space.low - action, dtype=space.dtype)

    def seen(self, obs: Any) -> Any:
        fault = self.truth.fault
        if fault == "observation-zero":
            return np.zeros_like(obs)
        if fault == "observation-x100":
            return (100 * obs).astype(obs.dtype)
        return np.roll(obs, 1) if fault == "observation-permuted" else obs

    def paid(self, reward: float) -> float:
        fault = self.truth.fault
        if fault == "reward-noise":
            return reward + NOISE * self.spread * float(self.generator.normal())
        if fault == "reward-nan":
            return float("nan") if self.generator.integers(NAN_EVERY) == 0 else reward
        changed = {"reward-flipped": -reward, "reward-x1000": 1000 * reward, "reward-constant": 1.0}
        return changed.get(fault, reward)


SPREAD = {"CartPole-v1": 1.0, "Pendulum-v1": 3.0}
"""About the spread of one reward of each environment; CartPole's is constant, so its size."""


def maker(name: str, truth: Truth, seed: int, world: World) -> Callable[[], gym.Env[Any, Any]]:
    """Return a factory of copies of `name` that share `truth`; the monitor's `world` sees what the trainer sees."""
    count = [0]

    def make() -> gym.Env[Any, Any]:
        count[0] += 1
        return watched(Faulty(gym.make(name), truth, SPREAD[name], 1000 * seed + count[0]), world)

    return make


IN_THE_WORLD = (
    "reward-flipped",
    "reward-x1000",
    "reward-constant",
    "reward-noise",
    "reward-nan",
    "observation-zero",
    "observation-x100",
    "observation-permuted",
    "action-swapped",
)
"""Faults of the environment; all others are planted in the trainer."""
