"""The healthy environments that bugs are planted in; each has hooks that a bug overrides."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete

Step = tuple[Any, Any, Any, Any, Any]


class Table(gym.Env[Any, Any]):
    """Three numbers pulled towards zero and pushed by the action; 100 steps, then truncated."""

    limit = 100

    def __init__(self) -> None:
        self.observation_space = Box(-10, 10, (3,), np.float32)
        self.action_space = Discrete(2)
        self.state = np.zeros(3)
        self.t = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.t = 0
        self.state = self.np_random.normal(size=3)
        return self.seen(), {}

    def step(self, action: Any) -> Step:
        self.t += 1
        push = 2 * int(action) - 1
        noise = 0.1 * self.np_random.normal(size=3)
        self.state = np.clip(0.95 * self.state + np.array([0.3, 0.2, 0.1]) * push + noise, -10, 10)
        return self.seen(), self.pays(), *self.ends(), {}

    def seen(self) -> Any:
        return self.state.astype(np.float32)

    def pays(self) -> Any:
        return 1 - min(2.0, float(abs(self.state[0])) / 5)

    def ends(self) -> tuple[Any, Any]:
        return False, self.t >= self.limit


class Drive(gym.Env[Any, Any]):
    """A point mass on a plane, pushed by two forces, paid for being near the origin; 200 steps."""

    limit = 200
    drag = 0.1

    def __init__(self) -> None:
        self.observation_space = Box(-np.inf, np.inf, (4,), np.float32)
        self.action_space = Box(-1, 1, (2,), np.float32)
        self.position = np.zeros(2)
        self.velocity = np.zeros(2)
        self.t = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.t = 0
        self.start()
        return self.seen(), {}

    def start(self) -> None:
        self.position = self.np_random.uniform(-1, 1, 2)
        self.velocity = np.zeros(2)

    def step(self, action: Any) -> Step:
        self.t += 1
        self.moves(np.clip(np.asarray(action, np.float64).reshape(-1), -1, 1))
        return self.seen(), self.pays(action), *self.ends(), {}

    def moves(self, force: Any) -> None:
        self.velocity = self.velocity + 0.1 * (force - self.drag * self.velocity)
        self.position = self.position + 0.1 * self.velocity

    def seen(self) -> Any:
        return np.concatenate([self.position, self.velocity]).astype(np.float32)

    def pays(self, action: Any) -> Any:
        return -float(np.linalg.norm(self.position))

    def ends(self) -> tuple[Any, Any]:
        return bool(np.linalg.norm(self.position) < 0.05), self.t >= self.limit


class Grid(gym.Env[Any, Any]):
    """Five by five cells, seen as one-hot; move to the corner within 100 steps."""

    size, limit = 5, 100
    directions = ((0, 1), (0, -1), (-1, 0), (1, 0))

    def __init__(self) -> None:
        self.observation_space = Box(0, 1, (self.size**2,), np.float32)
        self.action_space = Discrete(4)
        self.cell = np.zeros(2, np.int64)
        self.t = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.t = 0
        self.cell = self.np_random.integers(0, self.size - 1, 2)
        return self.seen(), {}

    def step(self, action: Any) -> Step:
        self.t += 1
        self.goes(self.reads(action))
        at_goal = bool((self.cell == self.size - 1).all())
        return self.seen(), 1.0 if at_goal else 0.0, *self.ends(at_goal), {}

    def reads(self, action: Any) -> int:
        return int(action)

    def goes(self, chosen: int) -> None:
        self.cell = np.clip(self.cell + np.array(self.directions[chosen]), 0, self.size - 1)

    def seen(self) -> Any:
        seen = np.zeros(self.size**2, np.float32)
        seen[self.cell[0] * self.size + self.cell[1]] = 1
        return seen

    def ends(self, at_goal: bool) -> tuple[Any, Any]:
        return at_goal, self.t >= self.limit


class Around(gym.Wrapper[Any, Any, Any, Any]):
    """A wrapper with a step counter, for bugs planted around an environment of Gymnasium."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.t = 0

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        self.t = 0
        return self.env.reset(**options)

    def step(self, action: Any) -> Step:
        self.t += 1
        return self.changed(*self.env.step(action))

    def changed(self, obs: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Step:
        return obs, reward, terminated, truncated, info


def cartpole() -> Any:
    return gym.make("CartPole-v1", disable_env_checker=True)


def pendulum() -> Any:
    return gym.make("Pendulum-v1", disable_env_checker=True)
