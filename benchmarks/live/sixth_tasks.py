"""Two small tasks of the sixth live campaign: a vessel that lands, with discrete actions, and an arm that touches.

Both end when they are done or have failed, and are in their own units: what a trainer sees of them is normalised
(sixth_worlds.py), as in most projects.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

DESCEND_STEPS, ARM_STEPS = 80, 30
GRAVITY, MAIN, SIDE = 0.012, 0.03, 0.012
"""Metres a tick, a tick: of the world, and of what the engines do against it."""
SOFT, SLOW, PAD = 0.08, 0.06, 0.25
"""Fastest landing downwards and sideways, in metres a tick; half the width of the pad, in metres."""
LANDED, CRASHED, FUEL = 2.0, -1.0, 0.01
LINK, PUSH, DRAG = 0.5, 0.25, 0.6
TOUCH, CALM, TOUCHED, NEAR = 0.15, 0.3, 2.0, 0.3
"""How near a hand must be, in metres, and how calm its joints, in radians a tick, to touch; what that pays."""


class Descend(gym.Env[Any, Any]):
    """Land on a pad with three engines: none, left, main, right. Getting lower, slower and nearer pays on the way."""

    metadata: ClassVar[dict[str, Any]] = {}
    limit = DESCEND_STEPS

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (4,), np.float32)
        self.action_space = gym.spaces.Discrete(4)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.x, self.height = float(self.np_random.uniform(-0.7, 0.7)), float(self.np_random.uniform(0.8, 1.2))
        self.sideways, self.up = float(self.np_random.uniform(-0.05, 0.05)), 0.0
        self.count = 0
        return self.seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        before, act = self.good(), int(action)
        self.sideways += SIDE * ((act == 3) - (act == 1))
        self.up += MAIN * (act == 2) - GRAVITY
        self.x, self.height, self.count = self.x + self.sideways, self.height + self.up, self.count + 1
        reward = self.good() - before - FUEL * (act == 2)
        down, out = self.height <= 0, abs(self.x) > 1.5 or self.height > 1.8
        if down:
            reward += LANDED if self.softly() else CRASHED
        elif out:
            reward += CRASHED
        over = bool(down or out)
        return self.seen(), float(reward), over, self.count >= DESCEND_STEPS and not over, {}

    def softly(self) -> bool:
        return abs(self.x) < PAD and abs(self.sideways) < SLOW and self.up > -SOFT

    def good(self) -> float:
        """Return how good it is to be here, apart from where it ends."""
        return -(abs(self.x) + 0.5 * abs(self.height) + 4 * abs(self.sideways) + 4 * max(0.0, -self.up - SOFT))

    def seen(self) -> Any:
        return np.array([self.x, self.height, self.sideways, self.up], np.float32)


class Arm(gym.Env[Any, Any]):
    """Two joints are driven so that the hand touches what lies within reach; every step costs the distance."""

    metadata: ClassVar[dict[str, Any]] = {}
    limit = ARM_STEPS

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (8,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.joints, self.speed = self.np_random.uniform(-1, 1, 2), np.zeros(2)
        angle, reach = float(self.np_random.uniform(-1.5, 1.5)), float(self.np_random.uniform(0.4, 0.9))
        self.goal = reach * np.array([math.cos(angle), math.sin(angle)])
        self.count = 0
        return self.seen(), {"near": self.off() < NEAR}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        push = np.clip(np.asarray(action, float).reshape(-1), -1, 1)
        self.speed = DRAG * self.speed + PUSH * push
        self.joints = self.joints + self.speed
        self.count += 1
        touched = bool(self.off() < TOUCH and np.abs(self.speed).max() < CALM)
        reward = -0.5 * self.off() - 0.02 * float(push @ push) + TOUCHED * touched
        over = self.count >= ARM_STEPS and not touched
        return self.seen(), reward, touched, over, {"near": self.off() < NEAR}

    def hand(self) -> Any:
        first, second = float(self.joints[0]), float(self.joints.sum())
        return LINK * np.array([math.cos(first) + math.cos(second), math.sin(first) + math.sin(second)])

    def off(self) -> float:
        """Return the distance from the hand to the goal, in metres."""
        return float(np.linalg.norm(self.goal - self.hand()))

    def seen(self) -> Any:
        return np.concatenate(
            [np.cos(self.joints), np.sin(self.joints), self.speed, self.goal - self.hand()]
        ).astype(np.float32)  # fmt: skip


OWN: dict[str, type[Descend] | type[Arm]] = {"Descend": Descend, "Arm": Arm}


def made(name: str) -> Any:
    """Return the environment of a task, with its time limit."""
    return OWN[name]()
