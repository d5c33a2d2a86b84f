"""Tasks of the third list, and what wrappers of a user's own get wrong between task and trainer."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

from benchmarks.outside.switches import Planted
from benchmarks.outside.worlds import Kept, Stepped

TIGHT = 0.02
"""Where `reading-clipped` cuts an observation."""
ALIVE = 1
"""Copies that go on when `copies-hang`."""


class Parking(gym.Env[Any, Any]):
    """A cart on a line has to stop in its bay: 1 for that, -1 for the wall, a little for each step."""

    metadata: ClassVar[dict[str, Any]] = {}

    def __init__(self, options: dict[str, Any]) -> None:
        self.sparse, self.limit = bool(options.get("sparse")), int(options.get("max_episode_steps", 60))
        self.scale = float(options.get("scale", 1.0))
        self.observation_space = gym.spaces.Box(-3.0, 3.0, (3,), np.float32)
        self.action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place = float(self.np_random.uniform(0.4, 0.9) * self.np_random.choice([-1, 1]))
        self.speed, self.count = float(self.np_random.uniform(-0.05, 0.05)), 0
        return self.seen(), {}

    def step(self, action: Any) -> Stepped:
        self.speed += 0.015 * (int(action) - 1)
        self.place += self.speed
        self.count += 1
        parked = abs(self.place) < 0.06 and abs(self.speed) < 0.03
        crashed = abs(self.place) > 1.2
        reward = (1.0 if parked else 0.0) - (0.0 if self.sparse else 1.0 if crashed else 0.02)
        over = parked or crashed
        return self.seen(), self.scale * reward, over, not over and self.count >= self.limit, {}

    def seen(self) -> Any:
        return np.array([self.place, 10 * self.speed, 1.0], np.float32)


class Steer(gym.Env[Any, Any]):
    """A body on a plane follows a goal on a circle; each step costs the distance. Forces from -2 to 2."""

    metadata: ClassVar[dict[str, Any]] = {}
    STEPS = 50

    def __init__(self, options: dict[str, Any]) -> None:
        self.gust, self.scale = float(options.get("gust", 0.0)), float(options.get("scale", 1.0))
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (6,), np.float32)
        self.action_space = gym.spaces.Box(-2.0, 2.0, (2,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.speed = self.np_random.uniform(-1, 1, 2), np.zeros(2)
        self.angle, self.count = float(self.np_random.uniform(0, 2 * np.pi)), 0
        return self.seen(), {}

    @property
    def goal(self) -> np.ndarray:
        return np.array([np.cos(self.angle), np.sin(self.angle)])

    def step(self, action: Any) -> Stepped:
        push = np.clip(np.asarray(action, np.float64), -2, 2) + self.gust * self.np_random.normal(size=2)
        self.speed = 0.8 * self.speed + 0.06 * push
        self.place = np.clip(self.place + self.speed, -3, 3)
        self.angle += 0.06
        self.count += 1
        reward = -float(np.linalg.norm(self.place - self.goal)) - 0.01 * float(push @ push)
        return self.seen(), self.scale * reward, False, self.count >= self.STEPS, {}

    def seen(self) -> Any:
        return np.concatenate([self.goal - self.place, 4 * self.speed, self.goal]).astype(np.float32)


class Tank(gym.Env[Any, Any]):
    """A valve between 0 and 4 keeps the level of a leaking tank at its mark; it must not run over."""

    metadata: ClassVar[dict[str, Any]] = {}
    STEPS = 40

    def __init__(self, options: dict[str, Any]) -> None:
        self.leak_at, self.scale = options.get("leak"), float(options.get("scale", 1.0))
        self.observation_space = gym.spaces.Box(-5.0, 5.0, (4,), np.float32)
        self.action_space = gym.spaces.Box(0.0, 4.0, (1,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.level, self.mark = self.np_random.uniform(0.3, 1.5, 2)
        self.drain, self.count = float(self.np_random.uniform(1.5, 3.0)), 0
        return self.seen(), {}

    def step(self, action: Any) -> Stepped:
        flow = float(np.clip(np.asarray(action).reshape(-1)[0], 0, 4))
        self.level = max(0.0, self.level + 0.12 * (flow - self.drain * np.sqrt(self.level)))
        self.count += 1
        over = self.level > 2.2
        reward = -abs(self.level - self.mark) - (5.0 if over else 0.0)
        return self.seen(), self.scale * reward, over, not over and self.count >= self.STEPS, {}

    def seen(self) -> Any:
        return np.array([self.level, self.mark, self.drain / 2, self.level - self.mark], np.float32)


class Between(gym.Wrapper[Any, Any, Any, Any]):
    """Between task and trainer, once it is switched on; `number` is that of the copy."""

    def __init__(self, env: gym.Env[Any, Any], planted: Planted, number: int) -> None:
        super().__init__(env)
        self.planted, self.number = planted, number
        self.sum, self.before, self.last = 0.0, 0.0, np.zeros(0, np.float32)

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        obs, info = self.env.reset(**kwargs)
        self.sum = self.before = 0.0
        self.last = np.array(obs, np.float32)
        return self.see(obs), info

    def step(self, action: Any) -> Stepped:
        on = self.planted.on
        if on("copies-hang") and self.number >= ALIVE:  # the pipe answers with what came last
            return self.last, 0.0, False, False, {}
        if on("actions-unscaled"):  # what the trainer has mapped to the bounds is mapped back to -1 to 1
            space: Any = self.env.action_space
            action = 2 * (np.asarray(action) - space.low) / (space.high - space.low) - 1
        obs, reward, terminated, truncated, info = self.env.step(action)
        if on("limit-left-from-test") and not terminated:
            truncated = truncated or self.length() >= 8
        self.sum += float(reward)
        return self.see(obs), self.pay(float(reward)), terminated, truncated, info

    def length(self) -> int:
        inner: Any = self.env
        return int(inner.length)

    def see(self, obs: Any) -> Any:
        """Return the observation as it reaches the trainer."""
        on = self.planted.on
        if on("one-behind"):
            self.last, obs = np.array(obs, np.float32), self.last
            return obs
        if on("reading-clipped"):
            return np.clip(np.asarray(obs, np.float32), -TIGHT, TIGHT)
        if on("columns-swapped"):
            return np.ascontiguousarray(np.asarray(obs, np.float32)[::-1])
        self.last = np.array(obs, np.float32)
        return obs

    def pay(self, reward: float) -> float:
        """Return the reward as it reaches the trainer."""
        on = self.planted.on
        if on("reward-sign"):
            return float(np.sign(reward))
        if on("reward-running-total"):
            return self.sum
        if on("reward-as-change"):
            self.before, change = reward, reward - self.before
            return change
        if on("reward-wrong-sign"):
            return -reward
        if on("reward-to-integer"):
            return float(int(reward))
        return reward


def bare(name: str, options: dict[str, Any]) -> gym.Env[Any, Any]:
    """Return a task with its time limit; `options` are variations that are meant."""
    own: dict[str, Callable[[dict[str, Any]], gym.Env[Any, Any]]] = {"Parking": Parking, "Steer": Steer, "Tank": Tank}
    if name in own:
        return own[name](options)
    return gym.make(name, max_episode_steps=options.get("max_episode_steps"))


def maker(name: str, options: dict[str, Any], planted: Planted, seed: int) -> Callable[[], gym.Env[Any, Any]]:
    """Return what makes one copy of the task after another, as the trainer meets them."""
    numbers = count()

    def make() -> gym.Env[Any, Any]:
        number = next(numbers)
        env = Between(Kept(bare(name, options), planted.truth), planted, number)
        env.action_space.seed(seed + number)
        return env

    return make
