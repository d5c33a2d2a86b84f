"""Two small tasks of the ninth live campaign: plates that are kept spinning, a reactor that is kept from running away.

Both end when control is lost, are learned within seconds, and are in their own units: what a trainer sees of them is
normalised (ninth_worlds.py), as in most projects.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

PLATES_STEPS, REACTOR_STEPS = 60, 50
SPIN, LEAST, MOST, BEST = 0.45, 0.15, 1.8, 0.9
"""What a push gives, the speeds below and above which a plate falls, and the one that looks best."""
FRICTION, DRAUGHT = np.array([0.06, 0.16]), 0.03
"""Bounds of what a plate loses in a tick, and how far that varies."""
FELL, RAN_AWAY = -3.0, -5.0
HEAT, COOLING, LEAK, WARMTH = 0.30, 0.16, 0.02, 0.05
"""Heat of the reaction, of a full cooler, what is lost to the air, what the inflow brings."""
SWIFT, FEED, ORDER, MEMORY = 1.5, 0.08, 0.25, 0.9
"""How heat speeds it, what flows in, how far orders differ, how long the inflow's warmth lasts."""


class Plates(gym.Env[Any, Any]):
    """Push one of three plates in each tick, or none; evenly fast plates pay, one that falls or flies off ends it."""

    metadata: ClassVar[dict[str, Any]] = {}
    limit, actions = PLATES_STEPS, 4

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (6,), np.float32)
        self.action_space = gym.spaces.Discrete(self.actions)
        self.load, self.tightness = 1.0, 1.0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.speeds = self.np_random.uniform(0.7, 1.1, 3)
        self.loss, self.count = self.np_random.uniform(*FRICTION, 3), 0
        return self.seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if int(action) < len(self.speeds):
            self.speeds[int(action)] += SPIN
        self.speeds -= self.load * (self.loss + DRAUGHT * self.np_random.normal(size=3))
        self.count += 1
        low, high = (BEST + (bound - BEST) * self.tightness for bound in (LEAST, MOST))
        fell = bool(self.speeds.min() < low or self.speeds.max() > high)
        reward = 1.0 - float(np.abs(self.speeds - BEST).mean()) + FELL * fell
        return self.seen(), reward, fell, self.count >= self.limit and not fell, {}

    def seen(self) -> Any:
        return np.array([*self.speeds, *self.loss], np.float32)


class Reactor(gym.Env[Any, Any]):
    """Cool and feed a reactor so that it makes what was ordered; one that runs away, or goes out, ends it."""

    metadata: ClassVar[dict[str, Any]] = {}
    limit, actions = REACTOR_STEPS, 0

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (4,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)
        self.load, self.tightness = 1.0, 1.0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.heat, self.stuff = float(self.np_random.uniform(-0.3, 0.3)), float(self.np_random.uniform(0.4, 0.6))
        self.inflow, self.count = float(self.np_random.normal()), 0
        self.order = 0.5 + float(self.np_random.uniform(-ORDER, ORDER))
        return self.seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        cooler, feed = (float(v) for v in np.clip(np.asarray(action, float).reshape(-1), -1, 1))
        made = min(2.0, self.stuff * math.exp(SWIFT * self.heat))
        brought = WARMTH * self.inflow - COOLING * cooler
        self.heat += self.load * HEAT * (made - 0.5) - LEAK * self.heat + brought
        self.stuff = float(np.clip(self.stuff + FEED * (1 + feed) * (1 - self.stuff) - 0.1 * made, 0.0, 1.0))
        self.inflow = MEMORY * self.inflow + math.sqrt(1 - MEMORY**2) * float(self.np_random.normal())
        self.count += 1
        lost = abs(self.heat) > self.tightness
        reward = 1.0 - 2 * min(1.0, abs(made - self.order)) - 0.3 * abs(self.heat) + RAN_AWAY * lost
        return self.seen(), reward, lost, self.count >= self.limit and not lost, {}

    def seen(self) -> Any:
        return np.array([self.heat, self.stuff, self.inflow, self.order], np.float32)


OWN: dict[str, type[Plates] | type[Reactor]] = {"Plates": Plates, "Reactor": Reactor}


def made(name: str) -> Any:
    """Return the environment of a task, with its time limit."""
    return OWN[name]()
