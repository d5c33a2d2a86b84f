"""Tasks of the eleventh live campaign: a ferry that calls at berths, three locks in a row, and two of Gymnasium.

The ferry is paid when it has called, and else only pays; the locks cost in every step; both end when control is lost,
and are learned within seconds, as are Gymnasium's CartPole and Reacher here. All have what faults of the earlier lists
reach into: `load`, `tightness` and `chance` may be set where the task has a counterpart (eleventh_draw.py leaves the
others out), and the information of a step says how far off it is and how far out.
"""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium as gym
import ninth_worlds
import numpy as np
import seventh_worlds
import tenth_tasks
import unseen_worlds
from gymnasium.envs.classic_control.cartpole import CartPoleEnv

FERRY_STEPS, LOCKS_STEPS, CARTPOLE_STEPS = 70, 32, 150
THRUSTS = np.array([-0.06, 0.0, 0.03, 0.06, -0.03])
"""What each action does: the second is to do nothing."""
WATER, TIDE, GUST = 0.8, 0.008, 0.008
"""What is left of speed after a tick, spread of the tide of an episode, and of gusts."""
FARE, FUEL, AGROUND = 3.0, 1.0, -6.0
"""What a call pays, what a unit of thrust costs, and what it costs to run aground."""
CLOSE, SLOW, APART = 0.12, 0.08, 0.5
"""How near a berth and how slow a call is, and how far the next berth is at least."""
PUMP, SLUICE, SEEP, SWELL, INERTIA, RAIN = 0.10, 0.04, 0.04, 0.04, 0.4, 0.012
"""Water of a full pump, what of it the next lock loses, what seeps through gates, how levels feed on themselves, how
pumps last, spread of rain."""
FLOODED, POWER, NEAR = -9.0, 0.05, 0.2


class Ferry(gym.Env[Any, Any]):
    """Go back or ahead, half or hard, or drift: a slow call at the berth pays, then there is another; shores end it."""

    metadata: ClassVar[dict[str, Any]] = {}
    limit, actions, cost = FERRY_STEPS, len(THRUSTS), AGROUND

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (5,), np.float32)
        self.action_space = gym.spaces.Discrete(self.actions)
        self.load = self.tightness = self.chance = 1.0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.at, self.speed, self.count = float(self.np_random.uniform(-0.6, 0.6)), 0.0, 0
        self.tide, self.berth = TIDE * float(self.np_random.normal()), self.next_berth()
        return self.seen(), self.told()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        thrust = float(THRUSTS[int(action)])
        gust = self.chance * GUST * float(self.np_random.normal())
        self.speed = WATER * self.speed + thrust + self.load * self.tide + gust
        self.at, self.count = self.at + self.speed, self.count + 1
        lost = abs(self.at) > self.tightness
        called = abs(self.at - self.berth) < CLOSE and abs(self.speed) < SLOW
        info = self.told()
        if called:
            self.berth = self.next_berth()
        reward = FARE * called - FUEL * abs(thrust) + AGROUND * lost
        return self.seen(), reward, lost, self.count >= self.limit and not lost, info

    def next_berth(self) -> float:
        """Return where to go next: not near."""
        while True:
            berth = float(self.np_random.uniform(-0.7, 0.7))
            if abs(berth - self.at) > APART:
                return berth

    def told(self) -> dict[str, Any]:
        """Return what faults may pay for instead."""
        off = abs(self.at - self.berth)
        return {"off": off, "out": abs(self.at), "near": off < CLOSE, "distance": off}

    def seen(self) -> Any:
        return np.array([self.at, 5 * self.speed, self.berth, self.at - self.berth, 50 * self.tide], np.float32)


class Locks(gym.Env[Any, Any]):
    """Pump water in or out of three locks: levels off their marks cost, and power; a flood or drought ends it."""

    metadata: ClassVar[dict[str, Any]] = {}
    limit, cost = LOCKS_STEPS, FLOODED

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (9,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (3,), np.float32)
        self.load = self.tightness = self.chance = 1.0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.levels, self.pumps = self.np_random.uniform(-0.5, 0.5, 3), np.zeros(3)
        self.marks, self.count = self.np_random.uniform(-0.5, 0.5, 3), 0
        return self.seen(), self.told()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        push = np.clip(np.asarray(action, float).reshape(-1), -1, 1)
        self.pumps = INERTIA * self.pumps + (1 - INERTIA) * push
        rain = self.chance * RAIN * self.np_random.normal(size=3)
        moved = PUMP * self.pumps - SLUICE * np.roll(self.pumps, 1) + rain
        seeped = SEEP * (self.levels.mean() - self.levels)
        self.levels, self.count = self.levels + moved + seeped + self.load * SWELL * self.levels, self.count + 1
        lost = bool(np.abs(self.levels).max() > self.tightness)
        info = self.told()
        reward = -info["off"] - POWER * float(push @ push) + FLOODED * lost
        return self.seen(), reward, lost, self.count >= self.limit and not lost, info

    def told(self) -> dict[str, Any]:
        """Return what faults may pay for instead."""
        off, out = float(np.abs(self.levels - self.marks).sum()), float(np.abs(self.levels).max())
        return {"off": off, "out": out, "near": off < NEAR, "distance": off, "terms": {"distance": -off}}

    def seen(self) -> Any:
        return np.array([*self.levels, *self.pumps, *self.marks], np.float32)


class Balance(CartPoleEnv):
    """Gymnasium's CartPole-v1 with a time limit of its own: the heavier, the more the pole is drawn down."""

    limit, actions, cost = CARTPOLE_STEPS, 2, -1.0

    def __init__(self) -> None:
        super().__init__()
        self.usual = self.gravity, self.x_threshold, self.theta_threshold_radians
        self.load = self.tightness = self.chance = 1.0
        self.count = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.count = 0
        obs, _ = super().reset(seed=seed, options=options)
        return obs, self.told(obs)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.gravity = self.load * self.usual[0]
        self.x_threshold, self.theta_threshold_radians = (self.tightness * bound for bound in self.usual[1:])
        self.count += 1
        obs, reward, lost, _, _ = super().step(int(action))
        return obs, float(reward), bool(lost), self.count >= self.limit and not lost, self.told(obs)

    def told(self, obs: Any) -> dict[str, Any]:
        """Return what faults may pay for instead."""
        off = abs(float(obs[0])) / self.usual[1]
        out = max(off, abs(float(obs[2])) / self.usual[2])
        return {"off": off, "out": out, "near": off < NEAR, "distance": off}


def reacher() -> Any:
    """Return Gymnasium's Reacher-v5 as faults reach into it; it needs MuJoCo, and nothing else here does."""
    from eleventh_reacher import Reacher

    return Reacher()


OWN: dict[str, Any] = {"Ferry": Ferry, "Locks": Locks, "CartPole": Balance, "Reacher": reacher}
GOALS = {"Ferry": slice(2, 3), "Locks": slice(6, 9), "CartPole": slice(0, 0), "Reacher": slice(4, 6)}
"""Entries of an observation that belong to the episode."""
SPEEDS = {"Ferry": slice(1, 2), "Locks": slice(3, 6), "CartPole": slice(1, 4, 2), "Reacher": slice(6, 8)}
"""Entries that say how something moves."""
SPREAD = {"Ferry": 1.0, "Locks": 0.25, "CartPole": 1.0, "Reacher": 0.1}
"""About the spread of one reward under a policy that has learned; of a constant one its size."""

# What the tenth list's worlds and those of earlier lists look up by the name of a task.
tenth_tasks.OWN.update(OWN)
tenth_tasks.SPREAD.update(SPREAD)
unseen_worlds.SPEEDS.update(SPEEDS)
seventh_worlds.SPEEDS.update(SPEEDS)
seventh_worlds.SPREAD.update(SPREAD)
ninth_worlds.GOAL.update(GOALS)


def made(name: str) -> Any:
    """Return the environment of a task, with its time limit."""
    return OWN[name]()
