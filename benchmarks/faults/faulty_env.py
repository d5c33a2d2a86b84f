"""An environment that can be changed by a fault while a trainer learns, and that keeps the true return apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np

from benchmarks.faults.tiny_worlds import made
from firstbreak.monitor.world import World, watched

Stepped = tuple[Any, float, bool, bool, dict[str, Any]]


@dataclass
class Truth:
    """What really happened in all copies of the environment: (steps taken by then, true return) of each episode."""

    steps: int = 0
    episodes: list[tuple[int, float]] = field(default_factory=list)
    change: type[Change] | None = None
    """The fault of the world that is on."""


class Change:
    """What a fault does to one copy of the environment. This one changes nothing."""

    def __init__(self, env: Faulty) -> None:
        self.env = env
        self.chance = env.chance

    def see(self, obs: Any) -> Any:
        """What the trainer sees of an observation."""
        return obs

    def pay(self, reward: float) -> float:
        """What the trainer is paid."""
        return reward

    def step(self, action: Any) -> Stepped:
        """Play one step, as the trainer is to see it."""
        obs, reward, terminated, truncated, info = self.env.play(action)
        return self.see(obs), self.pay(reward), terminated, truncated, info

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Begin an episode, as the trainer is to see it."""
        obs, info = self.env.begin(**kwargs)
        return self.see(obs), info


class Faulty(gym.Wrapper[Any, Any, Any, Any]):
    """Passes everything on, through the change that is on; random numbers of a fault are its own."""

    def __init__(self, env: gym.Env[Any, Any], truth: Truth, seed: int, number: int = 1) -> None:
        super().__init__(env)
        self.truth, self.number = truth, number
        self.chance = np.random.default_rng([seed, number])
        self.change = Change(self)
        self.total, self.length, self.open = 0.0, 0, False
        self.last: Any = None
        """What the trainer saw last."""

    def present(self) -> Change:
        """The change that is on, made when it is first asked for."""
        wanted = self.truth.change or Change
        if type(self.change) is not wanted:
            self.change = wanted(self)
        return self.change

    def step(self, action: Any) -> Any:
        obs, reward, terminated, truncated, info = self.present().step(action)
        self.last = obs
        return obs, reward, terminated, truncated, info

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        obs, info = self.present().reset(**kwargs)
        self.last = obs
        return obs, info

    # ---- the true environment -----------------------------------------------------------------------------------

    def play(self, action: Any) -> Stepped:
        """One true step; the first true end closes the episode's books."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        self.truth.steps += 1
        if self.open:
            self.total, self.length = self.total + float(reward), self.length + 1
            if terminated or truncated:
                self.close_books()
        return obs, float(reward), bool(terminated), bool(truncated), info

    def begin(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """A true reset; an episode that a fault cut short counts with what it had earned."""
        if self.open and self.length:
            self.close_books()
        obs, info = self.env.reset(**kwargs)
        self.open_books()
        return obs, info

    def open_books(self) -> None:
        """Count from nothing."""
        self.total, self.length, self.open = 0.0, 0, True

    def close_books(self) -> None:
        self.truth.episodes.append((self.truth.steps, self.total))
        self.open = False


def maker(name: str, truth: Truth, seed: int, world: World | None = None) -> Callable[[], gym.Env[Any, Any]]:
    """Return a factory of copies of `name` that share `truth`; the monitor's `world` sees what the trainer sees."""
    count = [0]

    def make() -> gym.Env[Any, Any]:
        count[0] += 1
        env = Faulty(made(name), truth, seed, count[0])
        return env if world is None else watched(env, world)

    return make
