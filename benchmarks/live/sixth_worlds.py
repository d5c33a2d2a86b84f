"""Environments of the sixth live campaign: what goes wrong in them is written in sixth.toml."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np
from sixth_tasks import made
from worlds import Truth

from firstbreak.monitor.world import World, watched

REPEATED, MANGLED = 0.6, 0.5
"""Shares of steps whose observation and reward are those of the step before; are two other steps'."""
MISSED_EVERY = 300
"""One in so many rewards is infinite."""
SCALE = 40.0
LATE = 3
"""Steps that a reward comes late."""
LOOP = 1.5
"""What each coming near pays."""
BOUND = 10.0
"""Normalised observations are cut off here, as is usual."""
FAULTS = (
    "step-repeated", "steps-mangled", "end-unseen", "rays-missed", "normaliser-anew", "loop-paid", "reward-x40",
    "reward-delayed", "reward-at-end",
)  # fmt: skip
"""Faults of the environment; all others are planted in the trainer."""


class Normaliser:
    """Running mean and variance of all that was seen (Welford 1962)."""

    def __init__(self, size: int) -> None:
        self.count, self.mean, self.squares = 1e-4, np.zeros(size), np.full(size, 1e-4)

    def __call__(self, obs: Any) -> Any:
        self.count += 1
        off = obs - self.mean
        self.mean = self.mean + off / self.count
        self.squares = self.squares + off * (obs - self.mean)
        scaled = (obs - self.mean) / np.sqrt(self.squares / self.count + 1e-8)
        return np.clip(scaled, -BOUND, BOUND).astype(np.float32)


@dataclass
class Common:
    """What all copies of an environment have in common."""

    seed: int
    normaliser: Normaliser
    memory: deque[tuple[Any, float]] = field(default_factory=lambda: deque(maxlen=1000))
    """Observations and rewards of before the fault."""
    anew: bool = False
    """Whether the statistics were begun anew."""


class Flawed(gym.Wrapper[Any, Any, Any, Any]):
    """Passes on what the fault makes of it. The truth is kept apart from what the trainer sees."""

    def __init__(self, env: Any, truth: Truth, shared: Common, number: int) -> None:
        super().__init__(env)
        self.truth, self.shared = truth, shared
        self.generator = np.random.default_rng([shared.seed, number])
        self.begin()
        self.shown: Any = None
        self.given = 0.0

    def begin(self) -> None:
        """Forget the episode before."""
        self.total, self.count, self.over, self.near = 0.0, 0, False, False
        self.unpaid: deque[float] = deque([0.0] * LATE, maxlen=LATE + 1)

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        self.begin()
        obs, info = self.env.reset(**kwargs)
        self.near = bool(info.get("near"))
        self.shown = obs
        return self.shown, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self.truth.steps += 1
        self.count += 1
        if self.over:
            return self.shown, 0.0, False, self.count >= self.env.unwrapped.limit, {}
        obs, reward, terminated, truncated, info = self.env.step(action)
        self.total += float(reward)
        if terminated or truncated:
            self.truth.episodes.append((self.truth.steps, self.total))
        paid = self.paid(float(reward), bool(info.get("near")), terminated or truncated)
        self.shown, self.given = self.passed_on(obs, paid)
        if self.truth.fault == "end-unseen" and terminated:
            self.over = True
            return self.shown, self.given, False, self.count >= self.env.unwrapped.limit, info
        return self.shown, self.given, terminated, truncated, info

    def passed_on(self, obs: Any, paid: float) -> tuple[Any, float]:
        """Return observation and reward as the trainer gets them."""
        fault = self.truth.fault
        if not fault:
            self.shared.memory.append((obs, paid))
        if fault == "step-repeated" and self.generator.random() < REPEATED:
            return self.shown, self.given
        if fault == "steps-mangled" and self.generator.random() < MANGLED:
            one, other = self.generator.integers(len(self.shared.memory), size=2)
            return self.shared.memory[one][0], self.shared.memory[other][1]
        return obs, paid

    def paid(self, reward: float, near: bool, over: bool) -> float:
        """Return the reward that the fault makes of it."""
        fault, before, self.near = self.truth.fault, self.near, near
        self.unpaid.append(reward)
        if fault == "loop-paid":
            return reward + LOOP * (near and not before)
        if fault == "rays-missed" and self.generator.integers(MISSED_EVERY) == 0:
            return -math.inf
        if fault == "reward-at-end":
            return self.total if over else 0.0
        if fault == "reward-delayed":
            return self.unpaid[0]
        return SCALE * reward if fault == "reward-x40" else reward


class Scaled(gym.ObservationWrapper[Any, Any, Any]):
    """Shows observations on the scale of all that all copies saw."""

    def __init__(self, env: Any, truth: Truth, shared: Common) -> None:
        super().__init__(env)
        self.truth, self.shared = truth, shared

    def observation(self, observation: Any) -> Any:
        if self.truth.fault == "normaliser-anew" and not self.shared.anew:
            self.shared.normaliser, self.shared.anew = Normaliser(len(observation)), True
        return self.shared.normaliser(np.asarray(observation, float))


def maker(name: str, truth: Truth, seed: int, world: World | None) -> Callable[[], gym.Env[Any, Any]]:
    """Return a factory of copies of `name` that share `truth`; the monitor's `world` sees them unscaled."""
    shared, count = Common(seed, Normaliser(made(name).observation_space.shape[0])), [0]

    def make() -> gym.Env[Any, Any]:
        env: Any = Flawed(made(name), truth, shared, count[0])
        count[0] += 1
        return Scaled(env if world is None else watched(env, world), truth, shared)

    return make
