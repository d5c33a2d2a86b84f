"""Between the tasks of the fourth list and their trainers: what a task or a wrapper of a user's own gets wrong."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import gymnasium as gym
import numpy as np

from benchmarks.outside.fourth.tasks import OWN, Courier
from benchmarks.outside.switches import Planted, Truth
from benchmarks.outside.worlds import Kept, Stepped

REPEATED = 0.7
"""Chance that `step-repeated` answers with what came before."""
SKIP = 6
"""Steps that one action lasts with `frame-skip`."""
HIDDEN = {"Catch": (3,), "Courier": (2, 3, 6), "Arm": (4, 5), "Glide": (2,)}
"""Columns without which an observation does not tell the state: speeds, and where the parcel is."""


class Between(gym.Wrapper[Any, Any, Any, Any]):
    """Between task and trainer, once it is switched on."""

    def __init__(self, env: gym.Env[Any, Any], task: str, planted: Planted, seed: int) -> None:
        super().__init__(env)
        self.planted, self.task, self.chance = planted, task, np.random.default_rng([seed, 41])
        self.owed, self.sum, self.clock = 0.0, 0.0, 0
        self.last: tuple[Any, float] = (np.zeros(0), 0.0)

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        obs, info = self.env.reset(**kwargs)
        self.owed = self.sum = 0.0
        if not self.planted.on("clock-not-reset"):
            self.clock = 0
        self.last = np.array(obs, np.float32), 0.0
        return self.see(obs), info

    def step(self, action: Any) -> Stepped:
        obs, reward, terminated, truncated, info = self.move(action)
        on = self.planted.on
        self.clock += 1
        if on("clock-not-reset") and not terminated:
            truncated = truncated or self.clock >= Courier.LIMIT
        if on("limit-as-end") and truncated:
            terminated, truncated = True, False
        over = terminated or truncated
        if on("step-repeated") and not over and self.chance.random() < REPEATED:
            return *self.last, terminated, truncated, info
        self.last = np.array(obs, np.float32), reward
        return self.see(obs), self.pay(reward, over, info), terminated, truncated, info

    def move(self, action: Any) -> Stepped:
        """Take one step, or as many as an action lasts."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        total, more = float(reward), SKIP - 1 if self.planted.on("frame-skip") else 0
        while more and not (terminated or truncated):
            obs, reward, terminated, truncated, info = self.env.step(action)
            total, more = total + float(reward), more - 1
        return obs, total, terminated, truncated, info

    def see(self, obs: Any) -> Any:
        """Return the observation as it reaches the trainer."""
        on = self.planted.on
        if on("velocities-zero"):
            obs = np.array(obs, np.float32)
            obs[list(HIDDEN[self.task])] = 0.0
        if on("one-feature-x1000"):
            obs = np.array(obs, np.float32)
            obs[0] *= 1000
        return obs

    def pay(self, reward: float, over: bool, info: dict[str, Any]) -> float:
        """Return the reward as it reaches the trainer."""
        on = self.planted.on
        self.sum += reward
        if on("paid-at-the-end"):
            return self.sum if over else 0.0
        if on("reward-one-late"):
            self.owed, reward = reward, self.owed
            return reward
        if on("reward-x100"):
            return 100 * reward
        if on("one-term-flipped"):
            main, other = info["terms"]
            return main - other
        return reward


def maker(name: str, options: dict[str, Any], planted: Planted, seed: int) -> Callable[[], gym.Env[Any, Any]]:
    """Return what makes one copy of the task after another, as the trainer meets them."""
    numbers = count()

    def make() -> gym.Env[Any, Any]:
        number = next(numbers)
        made = OWN[name](options, planted.truth) if name in OWN else gym.make(name)
        env = Between(Kept(made, planted.truth), name, planted, seed + number)
        env.action_space.seed(seed + number)
        return env

    return make


def aside(name: str, options: dict[str, Any], seed: int) -> Callable[[], gym.Env[Any, Any]]:
    """Return what makes a sound copy that no truth is kept of."""
    return maker(name, options, Planted("", 10**12, Truth()), seed)
