"""Gymnasium's Reacher-v5 in the eleventh live campaign: in a file of its own, as it needs MuJoCo."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.mujoco.reacher_v5 import ReacherEnv

STEPS, NEAR = 50, 0.05


class Reacher(ReacherEnv):
    """Gymnasium's Reacher-v5 in single precision: the heavier, the less a motor does."""

    limit, cost = STEPS, -1.0

    def __init__(self) -> None:
        self.load = self.tightness = self.chance = 1.0
        self.count = 0
        super().__init__()
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (10,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.count = 0
        obs, _ = super().reset(seed=seed, options=options)
        return obs.astype(np.float32), self.told(obs)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        push = np.clip(np.asarray(action, float).reshape(-1), -1, 1)
        obs, reward, _, _, _ = super().step(push / self.load)
        self.count += 1
        return obs.astype(np.float32), float(reward), False, self.count >= self.limit, self.told(obs)

    def told(self, obs: Any) -> dict[str, Any]:
        """Return what faults may pay for instead."""
        off = float(np.hypot(obs[8], obs[9]))
        return {"off": off, "out": off, "near": off < NEAR, "distance": off, "terms": {"distance": -off}}
