"""Two small tasks of the seventh live campaign: a ball that is kept on a beam, and a car that is kept on its lane.

Both end when control is lost, are learned within seconds, and are in their own units: what a trainer sees of them is
normalised (seventh_worlds.py), as in most projects.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

BEAM_STEPS, LANE_STEPS = 60, 50
HUMP, ROLL, TURN, MOST_TILT, GUST = 0.025, 0.05, 0.15, 0.5, 0.008
"""How much the beam's middle is a hump, how tilt drives the ball, tilt of one action, tilt in all, spread of wind."""
FELL = -2.0
STEER, PULL, SLOWEST, FASTEST, BEND, STIFF = 0.35, 0.1, 0.3, 1.0, 0.1, 0.8
"""Turn of a full wheel, gain of a full throttle, bounds of speed, spread and memory of the road's bends."""
LEFT_THE_LANE, OFF = -5.0, 0.5


class Beam(gym.Env[Any, Any]):
    """Tilt a beam left, not at all or right so that a ball stays at a mark; a step pays, less the distance to it."""

    metadata: ClassVar[dict[str, Any]] = {}
    limit = BEAM_STEPS

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (4,), np.float32)
        self.action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.x, self.mark = (float(v) for v in self.np_random.uniform(-0.5, 0.5, 2))
        self.speed, self.tilt = float(self.np_random.uniform(-0.03, 0.03)), float(self.np_random.uniform(-0.1, 0.1))
        self.count = 0
        return self.seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.tilt = float(np.clip(self.tilt + TURN * (int(action) - 1), -MOST_TILT, MOST_TILT))
        self.speed += HUMP * self.x + ROLL * self.tilt + GUST * float(self.np_random.normal())
        self.x, self.count = self.x + self.speed, self.count + 1
        fell, off = abs(self.x) > 1, abs(self.x - self.mark)
        info = {"off": off, "out": abs(self.x)}
        return self.seen(), 1.0 - off + FELL * fell, fell, self.count >= BEAM_STEPS and not fell, info

    def seen(self) -> Any:
        return np.array([self.x, self.speed, self.tilt, self.mark], np.float32)


class Lane(gym.Env[Any, Any]):
    """Steer a car and set its speed on a road that bends; speed pays, being off the middle costs, leaving ends it."""

    metadata: ClassVar[dict[str, Any]] = {}
    limit = LANE_STEPS

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (5,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.off, self.heading = float(self.np_random.uniform(-0.4, 0.4)), float(self.np_random.uniform(-0.2, 0.2))
        self.speed, self.bend, self.ahead, self.count = 0.5, 0.0, 0.0, 0
        return self.seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        wheel, throttle = (float(v) for v in np.clip(np.asarray(action, float).reshape(-1), -1, 1))
        self.speed = float(np.clip(self.speed + PULL * throttle, SLOWEST, FASTEST))
        self.heading += STEER * wheel - self.bend * self.speed
        self.off += 0.5 * self.speed * math.sin(self.heading)
        self.bend, self.ahead = self.ahead, STIFF * self.ahead + BEND * float(self.np_random.normal())
        self.count += 1
        left = abs(self.off) > 1 or abs(self.heading) > 1.5
        reward = self.speed * math.cos(self.heading) - OFF * abs(self.off) + LEFT_THE_LANE * left
        info = {"off": OFF * abs(self.off), "out": abs(self.off)}
        return self.seen(), reward, left, self.count >= LANE_STEPS and not left, info

    def seen(self) -> Any:
        return np.array([self.off, self.heading, self.speed, self.bend, self.ahead], np.float32)


OWN: dict[str, type[Beam] | type[Lane]] = {"Beam": Beam, "Lane": Lane}


def made(name: str) -> Any:
    """Return the environment of a task, with its time limit."""
    return OWN[name]()
