"""Two small tasks of the third live campaign, which a trainer learns within seconds: one continuous, one discrete."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

SIDE, FORAGE_STEPS = 6, 30
TANK_STEPS = 40
MOVES = ((0, 1), (1, 0), (0, -1), (-1, 0))


class Tank(gym.Env[Any, Any]):
    """Two coupled tanks with a pump each are filled to levels that are drawn anew; what is missing or too much costs.

    The observation is in centimetres and millilitres: entries differ by a factor of a hundred, as sensors do.
    """

    metadata: ClassVar[dict[str, Any]] = {}

    def __init__(self, *, leak: float = 0.05, pump: float = 0.25) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (6,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)
        self.leak, self.pump = leak, pump

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.level, self.flow = self.np_random.uniform(0, 2, 2), np.zeros(2)
        self.wanted, self.count = self.np_random.uniform(0.2, 1.8, 2), 0
        return self.seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        push = np.clip(np.asarray(action, float), -1, 1)
        self.flow = 0.5 * self.flow + 0.5 * self.pump * push
        across = 0.1 * (self.level - self.level[::-1])
        self.level = np.clip(self.level + self.flow - across - self.leak * self.level, 0, 2)
        self.count += 1
        missing = float(np.abs(self.level - self.wanted).sum())
        return self.seen(), -missing - 0.02 * float(push @ push), False, self.count >= TANK_STEPS, {}

    def seen(self) -> Any:
        return np.concatenate([self.level - self.wanted, self.level, 10 * self.flow]).astype(np.float32)


class Forage(gym.Env[Any, Any]):
    """Walk to what lies somewhere on a small field: 1 for being there, a little less for every step before."""

    metadata: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-1.0, 1.0, (4,), np.float32)
        self.action_space = gym.spaces.Discrete(len(MOVES))

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        first, second = self.np_random.choice(SIDE * SIDE, 2, replace=False)
        self.at, self.goal = np.array(divmod(int(first), SIDE)), np.array(divmod(int(second), SIDE))
        self.count = 0
        return self.seen(), {"distance": self.distance()}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.at = np.clip(self.at + MOVES[int(action)], 0, SIDE - 1)
        self.count += 1
        over = self.distance() == 0
        reward = 1.0 if over else -0.04
        return self.seen(), reward, over, self.count >= FORAGE_STEPS and not over, {"distance": self.distance()}

    def distance(self) -> int:
        """Return the steps that are left to go."""
        return int(np.abs(self.goal - self.at).sum())

    def seen(self) -> Any:
        return np.concatenate([self.goal - self.at, 2 * self.at - SIDE + 1]).astype(np.float32) / (SIDE - 1)


OWN = {"Tank": Tank, "Forage": Forage}


def made(name: str) -> gym.Env[Any, Any]:
    """Return the environment of a task, with its time limit."""
    return OWN[name]() if name in OWN else gym.make(name)
