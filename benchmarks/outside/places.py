"""Tasks of the second list, and what a user's wrapper around them gets wrong."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

from benchmarks.outside.switches import Planted
from benchmarks.outside.worlds import Kept, Stepped

LATE = 6
"""Steps by which `observations-late` is late."""
REPEATS = 8
"""Times that `action-repeated` plays an action."""


class Catch(gym.Env[Any, Any]):
    """A ball falls on a board of `rows` by `columns`; the paddle on the ground has to be under it."""

    metadata: ClassVar[dict[str, Any]] = {}

    def __init__(self, planted: Planted, options: dict[str, Any]) -> None:
        self.rows, self.columns = 9, 7
        self.windy_at, self.planted = options.get("windy_at"), planted
        self.observation_space = gym.spaces.Box(-1.0, 1.0, (3 * self.columns + 1,), np.float32)
        self.action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.ball, self.paddle, self.height = int(self.np_random.integers(self.columns)), self.columns // 2, self.rows
        windy = self.windy_at is not None and self.planted.truth.steps >= self.windy_at
        self.wind = int(self.np_random.choice([-1, 1])) if windy else 0
        return self.seen(), {}

    def step(self, action: Any) -> Stepped:
        self.paddle = int(np.clip(self.paddle + int(action) - 1, 0, self.columns - 1))
        self.height -= 1
        if self.wind and self.height % 2:  # it bounces off the walls
            self.wind *= -1 if not 0 <= self.ball + self.wind < self.columns else 1
            self.ball += self.wind
        down = self.height == 0
        return self.seen(), (1.0 if self.ball == self.paddle else -1.0) if down else 0.0, down, False, {}

    def seen(self) -> Any:
        board = np.zeros((3, self.columns), np.float32)
        board[0, self.ball], board[1, self.paddle] = 1.0, 1.0
        board[2, :] = self.wind
        return np.append(board.reshape(-1), np.float32(self.height / self.rows))


class Stock(gym.Env[Any, Any]):
    """A shop orders 0 to 4 boxes a day, which come two days later; goods that lie and sales that are lost cost."""

    metadata: ClassVar[dict[str, Any]] = {}
    DAYS, SPACE = 40, 12

    def __init__(self, options: dict[str, Any]) -> None:
        self.lumpy = bool(options.get("lumpy"))
        self.observation_space = gym.spaces.Box(0.0, 2.0, (5,), np.float32)
        self.action_space = gym.spaces.Discrete(5)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.here, self.coming, self.asked, self.day = 4, [2, 2], 2, 0
        return self.seen(), {}

    def demand(self) -> int:
        """Return a day's demand: two on average, or rarely much if it is lumpy."""
        if self.lumpy:
            return 5 if self.np_random.random() < 0.3 else 1
        return int(self.np_random.poisson(2.0))

    def step(self, action: Any) -> Stepped:
        self.here = min(self.SPACE, self.here + self.coming.pop(0))
        self.coming.append(int(action))
        self.asked = self.demand()
        sold = min(self.here, self.asked)
        lost, self.here, self.day = self.asked - sold, self.here - sold, self.day + 1
        reward = sold - 0.25 * self.here - 1.0 * lost
        return self.seen(), reward, False, self.day >= self.DAYS, {"lost_cost": 1.0 * lost, "sold": float(sold)}

    def seen(self) -> Any:
        return np.array([self.here / 12, *(n / 4 for n in self.coming), min(self.asked, 8) / 4, 1.0], np.float32)


class Docking(gym.Env[Any, Any]):
    """A craft with drag on a plane: each step costs its distance from the dock, and its effort."""

    metadata: ClassVar[dict[str, Any]] = {}
    STEPS = 50

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (4,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        angle = self.np_random.uniform(0, 2 * np.pi)
        self.place, self.speed, self.count = np.array([np.cos(angle), np.sin(angle)]), np.zeros(2), 0
        return self.seen(), {}

    def step(self, action: Any) -> Stepped:
        push = np.clip(np.asarray(action, np.float64), -1, 1)
        self.speed = 0.85 * self.speed + 0.06 * push
        self.place = np.clip(self.place + self.speed, -2, 2)
        self.count += 1
        reward = -float(np.linalg.norm(self.place)) - 0.05 * float(push @ push)
        return self.seen(), reward, False, self.count >= self.STEPS, {"distance": float(np.linalg.norm(self.place))}

    def seen(self) -> Any:
        return np.concatenate([self.place, 5 * self.speed]).astype(np.float32)


class Recall(gym.Env[Any, Any]):
    """One of three lights is shown at first; after a dark wait the agent has to name it."""

    metadata: ClassVar[dict[str, Any]] = {}

    def __init__(self, options: dict[str, Any]) -> None:
        self.wait = int(options.get("wait", 4))
        self.observation_space = gym.spaces.Box(0.0, 1.0, (4,), np.float32)
        self.action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.light, self.count = int(self.np_random.integers(3)), 0
        return self.seen(), {}

    def step(self, action: Any) -> Stepped:
        self.count += 1
        over = self.count > self.wait
        right = int(action) == self.light
        return self.seen(), (1.0 if right else 0.0) if over else 0.0, over, False, {}

    def seen(self) -> Any:
        view = np.zeros(4, np.float32)
        view[self.light] = float(self.count == 0)
        view[3] = float(self.count == self.wait)
        return view


class Lake(gym.ObservationWrapper[Any, Any, Any]):
    """Gymnasium's frozen lake, its cell as a row of zeros and a one; a step costs a hundredth."""

    def __init__(self, options: dict[str, Any]) -> None:
        steps = int(options.get("max_episode_steps", 60))
        super().__init__(gym.make("FrozenLake-v1", is_slippery=bool(options.get("slippery")), max_episode_steps=steps))
        self.observation_space = gym.spaces.Box(0.0, 1.0, (16,), np.float32)

    def observation(self, observation: Any) -> Any:
        return np.eye(16, dtype=np.float32)[int(observation)]

    def step(self, action: Any) -> Stepped:
        obs, reward, terminated, truncated, info = super().step(action)
        return obs, float(reward) - 0.01, terminated, truncated, info


class Middle(gym.Wrapper[Any, Any, Any, Any]):
    """Between task and trainer, once it is switched on."""

    def __init__(self, env: gym.Env[Any, Any], planted: Planted) -> None:
        super().__init__(env)
        self.planted, self.overflowed = planted, False
        self.views: deque[Any] = deque(maxlen=LATE + 1)
        self.distance = 0.0

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        obs, info = self.env.reset(**kwargs)
        self.views.clear()
        self.distance = 1.0  # where every craft starts
        return self.see(obs), info

    def step(self, action: Any) -> Stepped:
        times = REPEATS if self.planted.on("action-repeated") else 1
        total, row = 0.0, None
        for _ in range(times):
            row = self.env.step(action)
            total += self.pay(float(row[1]), row[4])
            if row[2] or row[3]:
                break
        assert row is not None
        return self.see(row[0]), total, row[2], row[3], row[4]

    def see(self, obs: Any) -> Any:
        """Return the observation as it reaches the trainer."""
        self.views.append(obs)
        if self.planted.on("observations-late"):
            return self.views[0]
        if self.planted.on("reading-overflows") and not self.overflowed:
            self.overflowed = True
            obs = np.array(obs, np.float32)
            obs[0] = np.inf
        return obs

    def pay(self, reward: float, info: dict[str, Any]) -> float:
        """Return the reward as it reaches the trainer."""
        on = self.planted.on
        if on("reward-floored"):
            return max(0.0, reward)
        if on("sales-not-read"):
            return reward + info["lost_cost"] - info["sold"]
        if on("retreat-is-free"):
            nearer, self.distance = self.distance - info["distance"], info["distance"]
            return 10 * max(0.0, nearer)
        if "distance" in info:
            self.distance = info["distance"]
        return reward


def bare(name: str, options: dict[str, Any], planted: Planted) -> gym.Env[Any, Any]:
    """Return a task with its time limit."""
    if name == "Catch":
        return Catch(planted, options)
    if name == "Stock":
        return Stock(options)
    if name == "Docking":
        return Docking()
    if name == "Recall":
        return Recall(options)
    if name == "Lake":
        return Lake(options)
    return gym.make(name, max_episode_steps=options.get("max_episode_steps"))


def maker(name: str, options: dict[str, Any], planted: Planted, seed: int) -> Callable[[], gym.Env[Any, Any]]:
    """Return what makes one copy of the task, as the trainer meets it."""

    def make() -> gym.Env[Any, Any]:
        env = Middle(Kept(bare(name, options, planted), planted.truth), planted)
        env.action_space.seed(seed)
        return env

    return make
