"""Environments whose every transition is known."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np


class Counter(gym.Env[Any, Any]):
    """Counts its steps from 0; every third episode is cut, the others terminate, after a length of their own."""

    def __init__(
        self, *, one_hot: bool = False, continuous: bool = False, lengths: tuple[int, ...] = (3, 5, 4)
    ) -> None:
        self.one_hot, self.lengths = one_hot, lengths
        self.observation_space = gym.spaces.Discrete(8, start=2) if one_hot else gym.spaces.Box(-9, 9, (1,), np.float64)
        box = gym.spaces.Box(np.array([[-2.0, 0.0]], np.float32), np.array([[1.0, 4.0]], np.float32))
        self.action_space = box if continuous else gym.spaces.Discrete(3, start=5)
        self.episode, self.steps = -1, 0
        self.seeds: list[int | None] = []
        self.received: list[Any] = []
        self.closed = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.seeds.append(seed)
        self.episode, self.steps = self.episode + 1, 0
        return self._obs(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action), f"{action!r} is not in {self.action_space}"
        self.received.append(action)
        self.steps += 1
        over = self.steps == self.lengths[self.episode % len(self.lengths)]
        cut = self.episode % 3 == 2
        return self._obs(), 10.0 * self.episode + self.steps, over and not cut, over and cut, {}

    def _obs(self) -> Any:
        return self.steps + 2 if self.one_hot else np.array([self.steps], np.float64)

    def close(self) -> None:
        self.closed = True
