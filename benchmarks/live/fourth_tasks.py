"""Three small tasks of the fourth live campaign: one of obstacles, one of trade, one of a load that swings."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

LANES, AHEAD, SIDE, LANES_STEPS = 5, 3, 2, 60
BLOCKED = 0.35
"""Chance that a lane that need not be free holds an obstacle."""
PASSED, CRASH = 0.1, -1.0
STAY = 1
"""Of the three actions of `Lanes`: left, stay, right."""
STOCK_STEPS, ROOM = 40, 20
ORDERS = (0, 2, 4, 6, 8, 10)
SEASON = 20
"""Steps from one season to the same again."""
PRICE, COST, HOLDING, MISSED = 1.0, 0.4, 0.15, 0.5
CRANE_STEPS = 40
REACH, ROPE, PULL, DAMPING, TICK = 0.2, 0.3, 1.0, 0.2, 0.5


class Lanes(gym.Env[Any, Any]):
    """Drive on five lanes past what stands there; each row that is passed pays, and a crash ends it.

    One lane is always free, and moves by at most one from row to row. What is seen is the own lane, and what stands in
    the next rows up to two lanes to the left and to the right, the side of the road included.
    """

    metadata: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(0.0, 1.0, (AHEAD * (2 * SIDE + 1) + 1,), np.float32)
        self.action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.lane = self.free = int(self.np_random.integers(LANES))
        self.rows = [self.row() for _ in range(AHEAD)]
        self.count = 0
        return self.seen(), {}

    def row(self) -> Any:
        """Return a new row of obstacles; the lane that stays free wanders."""
        self.free = min(max(self.free + int(self.np_random.integers(-1, 2)), 0), LANES - 1)
        blocked = self.np_random.random(LANES) < BLOCKED
        blocked[self.free] = False
        return blocked

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.lane = min(max(self.lane + int(action) - 1, 0), LANES - 1)
        crashed = bool(self.rows.pop(0)[self.lane])
        self.rows.append(self.row())
        self.count += 1
        reward = CRASH if crashed else PASSED
        return self.seen(), reward, crashed, self.count >= LANES_STEPS and not crashed, {}

    def seen(self) -> Any:
        near = [np.pad(row, SIDE, constant_values=True)[self.lane : self.lane + 2 * SIDE + 1] for row in self.rows]
        return np.concatenate([[self.lane / (LANES - 1)], *near]).astype(np.float32)


class Stock(gym.Env[Any, Any]):
    """Order what will be asked for: demand follows a season and chance; what lies about and what is missing costs."""

    metadata: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (4,), np.float32)
        self.action_space = gym.spaces.Discrete(len(ORDERS))

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.stock, self.coming = int(self.np_random.integers(ROOM)), 0
        self.phase, self.count = int(self.np_random.integers(SEASON)), 0
        return self.seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        order = ORDERS[int(action)]
        self.stock = min(self.stock + self.coming, ROOM)
        self.coming = order
        asked = int(self.np_random.poisson(4 + 3 * math.sin(2 * math.pi * self.phase / SEASON)))
        sold = min(asked, self.stock)
        self.stock -= sold
        self.phase, self.count = self.phase + 1, self.count + 1
        earned = PRICE * sold - COST * order - HOLDING * self.stock - MISSED * (asked - sold)
        return self.seen(), 0.2 * earned, False, self.count >= STOCK_STEPS, {}

    def seen(self) -> Any:
        angle = 2 * math.pi * self.phase / SEASON
        return np.array([self.stock / 10, self.coming / 5, math.sin(angle), math.cos(angle)], np.float32)


class Crane(gym.Env[Any, Any]):
    """Bring a load that hangs from a trolley to a place, and hold it there without swinging."""

    metadata: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (5,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.at, self.goal = (float(x) for x in self.np_random.uniform(-1, 1, 2))
        self.speed = self.angle = self.swing = 0.0
        self.count = 0
        return self.seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        push = float(np.clip(np.asarray(action, float).reshape(-1)[0], -1, 1))
        before = self.speed
        self.speed += 0.5 * (REACH * push - self.speed)
        self.at = min(max(self.at + self.speed, -1.5), 1.5)
        self.swing += TICK * (-PULL * self.angle - DAMPING * self.swing) - (self.speed - before) / ROPE
        self.angle += TICK * self.swing
        self.count += 1
        off = abs(self.at + ROPE * self.angle - self.goal)
        return self.seen(), -off - 0.02 * push**2, False, self.count >= CRANE_STEPS, {}

    def seen(self) -> Any:
        return np.array([self.goal - self.at, 5 * self.speed, self.angle, self.swing, self.at], np.float32)


OWN = {"Lanes": Lanes, "Stock": Stock, "Crane": Crane}


def made(name: str) -> gym.Env[Any, Any]:
    """Return the environment of a task, with its time limit."""
    return OWN[name]()
