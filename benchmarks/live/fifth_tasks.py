"""Two small tasks of the fifth live campaign, both of keeping up: one with discrete actions, one with continuous ones.

Every step pays, so that a harm that comes slowly shows slowly in the return.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

FOLLOW_STEPS, ESCORT_STEPS = 30, 25
TURNS = 0.1
"""Chance that what is followed turns round in a step."""
PACE, MOVE = 0.08, 0.1
MOVES = 5
STAY = 2
"""Of the five actions of `Follow`: two steps left, one, none, one right, two."""
RADIUS, ANGLE = 0.6, 0.2
PUSH, DRAG, EFFORT = 0.12, 0.7, 0.02


class Follow(gym.Env[Any, Any]):
    """Stay below something that runs to and fro on a line, and turns when it likes."""

    metadata: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (4,), np.float32)
        self.action_space = gym.spaces.Discrete(MOVES)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.at, self.goal = (float(x) for x in self.np_random.uniform(-1, 1, 2))
        self.pace = PACE * float(self.np_random.choice([-1.0, 1.0]))
        self.speed, self.count = 0.0, 0
        return self.seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.speed = 0.5 * self.speed + 0.5 * MOVE * (int(action) - STAY)
        self.at = min(max(self.at + self.speed, -1.2), 1.2)
        if self.np_random.random() < TURNS or abs(self.goal + self.pace) > 1:
            self.pace = -self.pace
        self.goal += self.pace
        self.count += 1
        paid = max(0.0, 1.0 - 2.0 * abs(self.goal - self.at))
        return self.seen(), paid, False, self.count >= FOLLOW_STEPS, {}

    def seen(self) -> Any:
        return np.array([self.goal - self.at, 5 * self.pace, 5 * self.speed, self.at], np.float32)


class Escort(gym.Env[Any, Any]):
    """A mass on a plane is pushed so that it stays beside something that goes round in a circle."""

    metadata: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (6,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.speed = self.np_random.uniform(-0.8, 0.8, 2), np.zeros(2)
        self.angle, self.turn = float(self.np_random.uniform(0, 2 * math.pi)), ANGLE
        self.turn *= float(self.np_random.choice([-1.0, 1.0]))
        self.count = 0
        return self.seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        push = np.clip(np.asarray(action, float).reshape(-1), -1, 1)
        self.speed = DRAG * self.speed + PUSH * push
        self.place = np.clip(self.place + self.speed, -1.5, 1.5)
        self.angle += self.turn
        self.count += 1
        off = float(np.linalg.norm(self.goal() - self.place))
        return self.seen(), -off - EFFORT * float(push @ push), False, self.count >= ESCORT_STEPS, {}

    def goal(self, ahead: float = 0.0) -> Any:
        """Return where the other one is, or will be in `ahead` steps."""
        angle = self.angle + ahead * self.turn
        return RADIUS * np.array([math.cos(angle), math.sin(angle)])

    def seen(self) -> Any:
        heading = self.goal(1.0) - self.goal()
        return np.concatenate([self.goal() - self.place, 5 * self.speed, 5 * heading]).astype(np.float32)


OWN = {"Follow": Follow, "Escort": Escort}


def made(name: str) -> gym.Env[Any, Any]:
    """Return the environment of a task, with its time limit."""
    return OWN[name]()
