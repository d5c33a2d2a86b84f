"""Two small tasks of the tenth live campaign: a raft that holds a place in a current, a kiln with two chambers.

Both end when control is lost and are learned within seconds. They have what faults of the earlier lists reach into:
`load`, `tightness` and `chance` may be set, and the information of a step says how far off it is and how far out.
"""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

RAFT_STEPS, KILN_STEPS = 40, 45
STROKE, WATER, CURRENT, EDDY, SPREADS = 0.07, 0.7, 0.02, 0.012, 0.03
"""What a stroke of the oar gives, what is left of speed after a tick, spread of the current, of eddies, and how the
current is stronger further out."""
MOVES = np.array([[-1, 0], [0, 0], [1, 0], [0, 1], [0, -1]], float)
"""What each action does: the second is to do nothing."""
SWEPT_AWAY, MELTED = -4.0, -5.0
BURNER, RUNAWAY, WALL, INERTIA, FLICKER = 0.10, 0.06, 0.04, 0.5, 0.015
"""Heat of a full burner, heat that heat itself makes, heat through the wall, how rates last, spread of flames."""
NEAR = 0.15
"""Distance from the goal that counts as near."""


class Raft(gym.Env[Any, Any]):
    """Row a raft west, not at all, east, north or south; being near a mark pays, being swept away ends it."""

    metadata: ClassVar[dict[str, Any]] = {}
    limit, actions, cost = RAFT_STEPS, len(MOVES), SWEPT_AWAY

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (7,), np.float32)
        self.action_space = gym.spaces.Discrete(self.actions)
        self.load = self.tightness = self.chance = 1.0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.at, self.speed = self.np_random.uniform(-0.5, 0.5, 2), np.zeros(2)
        self.mark = float(self.np_random.uniform(-0.5, 0.5))
        self.current, self.count = CURRENT * self.np_random.normal(size=2), 0
        return self.seen(), self.told()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        eddies = self.chance * EDDY * self.np_random.normal(size=2)
        pulled = self.load * (self.current + SPREADS * self.at)
        self.speed = WATER * self.speed + STROKE * MOVES[int(action)] + pulled + eddies
        self.at, self.count = self.at + self.speed, self.count + 1
        lost = bool(np.abs(self.at).max() > self.tightness)
        info = self.told()
        reward = 1.0 - info["off"] - 0.5 * abs(float(self.at[1])) + SWEPT_AWAY * lost
        return self.seen(), reward, lost, self.count >= self.limit and not lost, info

    def told(self) -> dict[str, Any]:
        """Return what faults may pay for instead."""
        off = abs(float(self.at[0]) - self.mark)
        return {"off": off, "out": float(np.abs(self.at).max()), "near": off < NEAR, "distance": off}

    def seen(self) -> Any:
        return np.array([*self.at, *self.speed, self.mark, *(10 * self.current)], np.float32)


class Kiln(gym.Env[Any, Any]):
    """Heat or cool two chambers that share a wall; being near two temperatures pays, one too hot or cold ends it."""

    metadata: ClassVar[dict[str, Any]] = {}
    limit, cost = KILN_STEPS, MELTED

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (6,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)
        self.load = self.tightness = self.chance = 1.0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.heat, self.rate = self.np_random.uniform(-0.5, 0.5, 2), np.zeros(2)
        self.wanted, self.count = self.np_random.uniform(-0.4, 0.4, 2), 0
        return self.seen(), self.told()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        push = np.clip(np.asarray(action, float).reshape(-1), -1, 1)
        flames = self.chance * FLICKER * self.np_random.normal(size=2)
        self.rate = INERTIA * self.rate + BURNER * push + flames
        across = WALL * (self.heat[::-1] - self.heat)
        self.heat = self.heat + self.rate + self.load * RUNAWAY * self.heat + across
        self.count += 1
        lost = bool(np.abs(self.heat).max() > self.tightness)
        info = self.told()
        reward = 1.0 - info["off"] - 0.02 * float(push @ push) + MELTED * lost
        return self.seen(), reward, lost, self.count >= self.limit and not lost, info

    def told(self) -> dict[str, Any]:
        """Return what faults may pay for instead."""
        off = float(np.abs(self.heat - self.wanted).sum())
        out = float(np.abs(self.heat).max())
        return {"off": off, "out": out, "near": off < NEAR, "distance": off, "terms": {"distance": -off}}

    def seen(self) -> Any:
        return np.array([*self.heat, *(10 * self.rate), *self.wanted], np.float32)


OWN: dict[str, type[Raft] | type[Kiln]] = {"Raft": Raft, "Kiln": Kiln}
GOALS = {"Raft": slice(4, 5), "Kiln": slice(4, 6)}
"""Entries of an observation that belong to the episode."""
SPEEDS = {"Raft": slice(2, 4), "Kiln": slice(2, 4)}
"""Entries that say how something moves."""
SPREAD = {"Raft": 0.4, "Kiln": 0.45}
"""About the spread of one reward under a policy that has learned."""


def made(name: str) -> Any:
    """Return the environment of a task, with its time limit."""
    return OWN[name]()
