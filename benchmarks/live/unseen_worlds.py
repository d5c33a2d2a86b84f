"""Environments of the second live campaign, in which other faults can be switched on than in `worlds`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from worlds import Truth

from firstbreak.monitor.world import World, watched

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "faults"))
from tiny_worlds import made

REPEATED, SKIPPED, REMEMBERED = 0.9, 8, 1000
SPEEDS = {"Acrobot-v1": slice(4, 6), "Reach": slice(2, 4), "InvertedPendulum-v5": slice(2, 4)}
"""Which entries of an observation are speeds."""
FAULTS = (
    "repeated", "mangled", "action-tenth", "feature-x1000", "speeds-zero", "frame-skip", "term-flipped", "motion-paid",
    "reward-swapped",
)  # fmt: skip
"""Faults of the environment; all others are planted in the trainer."""


class Changed(gym.Wrapper[Any, Any, Any, Any]):
    """Passes everything on, changed by the fault that is on. The truth is kept apart from what the trainer sees."""

    def __init__(self, env: gym.Env[Any, Any], name: str, truth: Truth, seed: int) -> None:
        super().__init__(env)
        self.name, self.truth = name, truth
        self.generator = np.random.default_rng(seed)
        width = int(np.prod(env.observation_space.shape or (1,)))
        self.other_reward = np.random.default_rng(0).normal(size=width)
        self.total = 0.0
        self.memory: list[tuple[Any, float]] = []
        self.shown: tuple[Any, float] = (None, 0.0)

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        self.total = 0.0
        obs, info = self.env.reset(**kwargs)
        self.shown = (self.seen(obs), 0.0)
        return self.shown[0], info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        fault = self.truth.fault
        if fault == "action-tenth":
            action = (0.1 * np.asarray(action)).astype(np.float32)
        obs, reward, terminated, truncated, info = self.played(action, SKIPPED if fault == "frame-skip" else 1)
        self.truth.steps += 1
        if terminated or truncated:
            self.truth.episodes.append((self.truth.steps, self.total))
        seen, paid = self.seen(obs), self.paid(obs, reward, info)
        if fault == "mangled":
            picks = self.generator.integers(len(self.memory), size=2)
            seen, paid = self.memory[picks[0]][0], self.memory[picks[1]][1]
        elif fault == "repeated" and self.generator.random() < REPEATED:
            seen, paid = self.shown
        elif not fault:
            self.memory.append((np.array(seen), paid))
            del self.memory[:-REMEMBERED]
        self.shown = seen, paid
        return seen, paid, terminated, truncated, info

    def played(self, action: Any, times: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Carry out `action`, and add what it truly earns."""
        earned = 0.0
        for _ in range(times):
            obs, reward, terminated, truncated, info = self.env.step(action)
            earned += float(reward)
            if terminated or truncated:
                break
        self.total += earned
        return obs, earned, terminated, truncated, info

    def seen(self, obs: Any) -> Any:
        if self.truth.fault not in ("feature-x1000", "speeds-zero"):
            return obs
        obs = np.array(obs)
        if self.truth.fault == "feature-x1000":
            obs[0] *= 1000
        else:
            obs[SPEEDS[self.name]] = 0
        return obs

    def paid(self, obs: Any, reward: float, info: dict[str, Any]) -> float:
        fault = self.truth.fault
        if fault == "term-flipped":
            return reward - 2 * float(info["terms"]["distance"])
        if fault == "motion-paid":
            return 4 * float(np.linalg.norm(np.asarray(obs)[SPEEDS[self.name]]))
        if fault == "reward-swapped":
            size = float(np.mean([abs(paid) for _, paid in self.memory])) or 1.0
            return size * float(np.tanh(self.other_reward @ np.asarray(obs).reshape(-1)))
        return reward


def maker(name: str, truth: Truth, seed: int, world: World) -> Callable[[], gym.Env[Any, Any]]:
    """Return a factory of copies of `name` that share `truth`; the monitor's `world` sees what the trainer sees."""
    count = [0]

    def make() -> gym.Env[Any, Any]:
        count[0] += 1
        return watched(Changed(made(name), name, truth, 1000 * seed + count[0]), world)

    return make
