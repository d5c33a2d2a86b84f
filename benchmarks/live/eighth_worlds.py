"""Environments of the eighth live campaign: what goes wrong in them is written in eighth.toml."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np
from eighth_doses import dose_of
from eighth_tasks import made
from worlds import Truth

from firstbreak.monitor.world import World, watched

BOUND = 10.0
"""Normalised observations are cut off here, as is usual."""
OF_ACTIONS = ("actions-whole", "low-bound-lost", "index-off-by-one")
OF_REWARDS = ("end-rewarded", "units-smaller", "answer-held", "version-before", "rewards-centred")
OF_THE_SCALE = ("divided-again", "observations-whole", "statistics-of-another")
FAULTS = (
    *OF_ACTIONS, *OF_REWARDS, *OF_THE_SCALE, "copies-crossed", "flags-swapped", "limit-shortened", "chance-wider",
    "begins-elsewhere", "axis-turned", "reading-missing",
)  # fmt: skip
"""Faults of the environment; all others are planted in the trainer."""
MEMORY = 0.01
"""Weight of the newest reward in the running mean of `rewards-centred`."""


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

    def move(self, spreads: float) -> None:
        """Move the mean of each observation by so many of its spreads, in turns up and down."""
        turns = np.where(np.arange(len(self.mean)) % 2, -1.0, 1.0)
        self.mean = self.mean + spreads * turns * np.sqrt(self.squares / self.count)


@dataclass
class Common:
    """What all copies of an environment have in common."""

    name: str
    subject: str
    seed: int
    normaliser: Normaliser
    latest: dict[int, Any] = field(default_factory=dict)
    """The newest observation of each copy."""
    moved: bool = False
    """Whether the statistics are another run's."""
    mean: float = 0.0
    """The running mean of rewards."""


class Flawed(gym.Wrapper[Any, Any, Any, Any]):
    """Passes on what the fault makes of it. The truth is kept apart from what the trainer sees."""

    def __init__(self, env: Any, truth: Truth, shared: Common, number: int) -> None:
        super().__init__(env)
        self.truth, self.shared, self.number = truth, shared, number
        self.generator = np.random.default_rng([shared.seed, number])
        self.total, self.count, self.answer = 0.0, 0, 0.0

    @property
    def dose(self) -> float:
        """How large the fault is that is on."""
        return dose_of(self.truth.fault, self.shared.subject)

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        self.total, self.count = 0.0, 0
        self.unwrapped.width = self.dose if self.truth.fault == "begins-elsewhere" else 1.0  # type: ignore[attr-defined]
        obs, info = self.env.reset(**kwargs)
        return self.seen(obs), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        fault = self.truth.fault
        self.truth.steps += 1
        self.count += 1
        self.unwrapped.chance = self.dose if fault == "chance-wider" else 1.0  # type: ignore[attr-defined]
        obs, reward, terminated, truncated, info = self.env.step(self.done(action))
        self.total += float(reward)
        if fault == "limit-shortened" and not terminated:
            truncated = truncated or self.count >= self.dose * self.unwrapped.limit  # type: ignore[attr-defined]
        if terminated or truncated:
            self.truth.episodes.append((self.truth.steps, self.total))
        paid = self.paid(float(reward), terminated, info)
        if fault == "flags-swapped":
            terminated, truncated = truncated, terminated
        return self.seen(obs), paid, terminated, truncated, {}

    def done(self, action: Any) -> Any:
        """Return the action that the environment gets."""
        fault = self.truth.fault
        if fault == "actions-whole":
            return np.trunc(action)
        if fault == "low-bound-lost":
            return np.clip(action, 0.0, 1.0)
        if fault == "index-off-by-one":
            return (int(action) + 1) % self.env.action_space.n  # type: ignore[attr-defined]
        return action

    def seen(self, obs: Any) -> Any:
        """Return the observation that the trainer gets, not yet scaled."""
        fault, latest = self.truth.fault, self.shared.latest
        latest[self.number] = obs
        if fault == "copies-crossed":
            return latest[(self.number - 1) % len(latest)]
        if fault == "axis-turned":
            turned = np.array(obs)
            turned[: int(self.dose)] *= -1
            return turned
        if fault == "reading-missing" and self.generator.random() < self.dose:
            return np.full_like(obs, np.nan)
        return obs

    def paid(self, reward: float, terminated: bool, info: dict[str, Any]) -> float:
        """Return the reward that the fault makes of it."""
        fault = self.truth.fault
        self.shared.mean += MEMORY * (reward - self.shared.mean)
        if fault == "end-rewarded" and terminated:
            return reward - (1 + self.dose) * float(self.unwrapped.cost)  # type: ignore[attr-defined]
        if fault == "units-smaller":
            return reward * self.dose
        if fault == "version-before":
            return float(info["other"])
        if fault == "rewards-centred":
            return reward - self.shared.mean
        if fault != "answer-held" or self.count % int(self.dose) == 0:
            self.answer = reward
        return self.answer


class Scaled(gym.ObservationWrapper[Any, Any, Any]):
    """Shows observations on the scale of all that all copies saw."""

    def __init__(self, env: Any, truth: Truth, shared: Common) -> None:
        super().__init__(env)
        self.truth, self.shared = truth, shared

    def observation(self, observation: Any) -> Any:
        fault, shared = self.truth.fault, self.shared
        if fault == "statistics-of-another" and not shared.moved:
            shared.normaliser.move(dose_of(fault, shared.subject))
            shared.moved = True
        seen = shared.normaliser(np.asarray(observation, float))
        if fault == "divided-again":
            return (seen / dose_of(fault, shared.subject)).astype(np.float32)
        return np.trunc(seen) if fault == "observations-whole" else seen


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
