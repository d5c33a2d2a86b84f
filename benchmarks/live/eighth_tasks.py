"""Two small tasks of the eighth live campaign: customers who are sent to counters, a buoy that is held in a current.

Both end when control is lost, are learned within seconds, and are in their own units: what a trainer sees of them is
normalised (eighth_worlds.py), as in most projects.
"""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

COUNTERS_STEPS, BUOY_STEPS = 60, 50
SPEEDS = np.array([0.7, 0.5, 0.35])
"""Work that each counter does in a tick."""
THRIFT = np.array([0.0, 0.4, 1.0])
"""What an earlier version of the task paid for each counter."""
MOST, LONGEST = 6.0, 8.0
"""Work that a counter has room for, and the wait that costs most."""
WORK, WORK_SPREAD, BREAK, BACK = 1.05, 0.4, 0.05, 0.2
"""Work of a customer, how far it varies, chances that a counter closes and opens again."""
OVERFULL, LOST_HOLD = -3.0, -5.0
PULL, PUSH, SIDE, DRAG, CURRENT, STREAM, GUST = 0.03, 0.09, 0.07, 0.1, 0.3, 0.03, 0.012
"""How depth draws down, gain of the two drives, drag, spread of the current, what it moves, spread of gusts."""


class Counters(gym.Env[Any, Any]):
    """Send each customer to one of three counters; a short wait pays, a counter without room ends it."""

    metadata: ClassVar[dict[str, Any]] = {}
    limit = COUNTERS_STEPS
    cost = OVERFULL

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (7,), np.float32)
        self.action_space = gym.spaces.Discrete(3)
        self.chance, self.width = 1.0, 1.0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.queue = np.minimum(self.width * self.np_random.uniform(0, 1, 3), 0.9 * MOST)
        self.open, self.count = np.ones(3, bool), 0
        self.work = self.drawn()
        return self.seen(), {}

    def drawn(self) -> float:
        """Return the work of the next customer."""
        return float(max(0.1, WORK + self.chance * self.np_random.uniform(-WORK_SPREAD, WORK_SPREAD)))

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        place = int(action)
        wait = float(self.queue[place] / SPEEDS[place] + 4 * (not self.open[place]))
        self.queue[place] += self.work
        full = bool(self.queue.max() > MOST)
        self.queue = np.maximum(0.0, self.queue - SPEEDS * self.open)
        coin, self.count = self.np_random.uniform(size=3), self.count + 1
        self.open = np.where(self.open, coin > min(0.9, BREAK * self.chance), coin < BACK)
        self.work = self.drawn()
        reward = 1.0 - min(wait, LONGEST) / 4 + OVERFULL * full
        return self.seen(), reward, full, self.count >= self.limit and not full, {"other": float(THRIFT[place])}

    def seen(self) -> Any:
        return np.array([*self.queue, *(SPEEDS * self.open), self.work], np.float32)


class Buoy(gym.Env[Any, Any]):
    """Hold a buoy at a depth and over a place; what is off costs, and what drifts too far is lost."""

    metadata: ClassVar[dict[str, Any]] = {}
    limit = BUOY_STEPS
    cost = LOST_HOLD

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (6,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)
        self.chance, self.width = 1.0, 1.0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        first = np.clip(self.width * self.np_random.uniform(-0.4, 0.4, 2), -0.95, 0.95)
        self.depth, self.side = float(first[0]), float(first[1])
        self.goal, self.current = float(self.np_random.uniform(-0.4, 0.4)), CURRENT * float(self.np_random.normal())
        self.sinks, self.drifts, self.count = 0.0, 0.0, 0
        return self.seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        pump, screw = (float(v) for v in np.clip(np.asarray(action, float).reshape(-1), -1, 1))
        gusts = self.chance * GUST * self.np_random.normal(size=2)
        self.sinks += PULL * self.depth + PUSH * pump - DRAG * self.sinks + float(gusts[0])
        self.drifts += STREAM * self.current + SIDE * screw - DRAG * self.drifts + float(gusts[1])
        self.depth, self.side = self.depth + self.sinks, self.side + self.drifts
        self.current = 0.9 * self.current + 0.4 * self.chance * CURRENT * float(self.np_random.normal())
        self.count += 1
        lost = abs(self.depth) > 1 or abs(self.side) > 1
        reward = 1.0 - abs(self.depth - self.goal) - 0.5 * abs(self.side) + LOST_HOLD * lost
        other = 1.0 - abs(self.depth + self.goal) - 0.5 * abs(self.side - self.goal)
        return self.seen(), reward, lost, self.count >= self.limit and not lost, {"other": other}

    def seen(self) -> Any:
        return np.array([self.depth, self.sinks, self.side, self.drifts, self.current, self.goal], np.float32)


OWN: dict[str, type[Counters] | type[Buoy]] = {"Counters": Counters, "Buoy": Buoy}


def made(name: str) -> Any:
    """Return the environment of a task, with its time limit."""
    return OWN[name]()
