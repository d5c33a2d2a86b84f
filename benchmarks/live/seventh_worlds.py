"""Environments of the seventh live campaign: what goes wrong in them is written in seventh.toml."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np
from seventh_doses import dose_of
from seventh_tasks import made
from worlds import Truth

from firstbreak.monitor.world import World, watched

BOUND = 10.0
"""Normalised observations are cut off here, as is usual."""
SPREAD = {"Beam": 0.35, "Lane": 0.45}
"""About the spread of one reward under a policy that has learned."""
SHAPED = 0.97
"""The discount that the shaping reckons with."""
SPEEDS = {"Beam": slice(1, 2), "Lane": slice(1, 3)}
"""Observations that say how something moves."""
UNSCALED = 0
"""The observation that is in other units when no statistics scale it."""
ANEW = ("resumed-bare",)
"""Faults of the trainer that begin the statistics of the observations anew."""
FAULTS = (
    "outcomes-drawn", "ghost-steps", "units-dropped", "action-held", "reward-drowned", "distance-paid",
    "potential-kept", "reset-forgotten", "feature-unscaled", "speeds-hidden", "bound-on-rewards",
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

    name: str
    subject: str
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
        self.total, self.out = 0.0, 0.0
        self.ghosts, self.last, self.first = 0, None, None

    @property
    def dose(self) -> float:
        """How large the fault is that is on."""
        return dose_of(self.truth.fault, self.shared.subject)

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        self.total, self.out = 0.0, 0.0
        if self.truth.fault == "reset-forgotten" and self.last is not None:
            return self.last, {}
        obs, info = self.env.reset(**kwargs)
        if self.truth.fault == "ghost-steps" and self.last is not None:
            self.ghosts, self.first = int(self.dose), obs
            return self.last, info
        return obs, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self.truth.steps += 1
        if self.ghosts:
            self.ghosts -= 1
            return (self.last if self.ghosts else self.first), 0.0, False, False, {}
        if self.truth.fault == "units-dropped":
            action = np.asarray(action) * self.dose
        obs, reward, terminated, truncated, info = self.held(action)
        if terminated or truncated:
            self.truth.episodes.append((self.truth.steps, self.total))
            self.last = obs
        obs, reward = self.passed_on(obs, self.paid(reward, info))
        return obs, reward, terminated, truncated, info

    def held(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Do an action once, or as often as the fault holds it."""
        reward, times = 0.0, int(self.dose) if self.truth.fault == "action-held" else 1
        obs, terminated, truncated, info = None, False, False, dict[str, Any]()
        for _ in range(times):
            obs, one, terminated, truncated, info = self.env.step(action)
            reward += float(one)
            if terminated or truncated:
                break
        self.total += reward
        return obs, reward, terminated, truncated, info

    def passed_on(self, obs: Any, paid: float) -> tuple[Any, float]:
        """Return observation and reward as the trainer gets them."""
        fault, memory = self.truth.fault, self.shared.memory
        if not fault:
            memory.append((obs, paid))
        if fault == "outcomes-drawn" and self.generator.random() < self.dose:
            return memory[self.generator.integers(len(memory))]
        if fault == "speeds-hidden":
            obs = np.array(obs)
            obs[SPEEDS[self.shared.name]] = 0.0
        return obs, paid

    def paid(self, reward: float, info: dict[str, Any]) -> float:
        """Return the reward that the fault makes of it."""
        fault, before, self.out = self.truth.fault, self.out, float(info["out"])
        if fault == "reward-drowned":
            return reward + self.dose * SPREAD[self.shared.name] * float(self.generator.normal())
        if fault == "distance-paid":
            return reward + (1 + self.dose) * float(info["off"])
        if fault == "potential-kept":
            return reward + self.dose * (SHAPED * self.out - before)
        if fault == "bound-on-rewards":
            return float(np.clip(reward, -self.dose, self.dose))
        return reward


class Scaled(gym.ObservationWrapper[Any, Any, Any]):
    """Shows observations on the scale of all that all copies saw."""

    def __init__(self, env: Any, truth: Truth, shared: Common) -> None:
        super().__init__(env)
        self.truth, self.shared = truth, shared

    def observation(self, observation: Any) -> Any:
        if self.truth.fault in ANEW and not self.shared.anew:
            self.shared.normaliser, self.shared.anew = Normaliser(len(observation)), True
        if self.truth.fault == "feature-unscaled":
            seen = np.array(observation, np.float32)
            seen[UNSCALED] *= dose_of(self.truth.fault, self.shared.subject)
            return seen
        return self.shared.normaliser(np.asarray(observation, float))


def maker(
    name: str, subject: str, truth: Truth, seed: int, world: World | None
) -> Callable[[], gym.Env[Any, Any]]:  # fmt: skip
    """Return a factory of copies of `name` that share `truth`; the monitor's `world` sees them unscaled."""
    size = made(name).observation_space.shape[0]
    shared, count = Common(name, subject, seed, Normaliser(size)), [0]

    def make() -> gym.Env[Any, Any]:
        env: Any = Flawed(made(name), truth, shared, count[0])
        count[0] += 1
        return Scaled(env if world is None else watched(env, world), truth, shared)

    return make
