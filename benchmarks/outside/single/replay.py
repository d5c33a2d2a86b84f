"""The replay buffer of single-file scripts: arrays, an index, and what goes wrong with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from benchmarks.outside.switches import Planted


class Replay:
    """Rows of (observation, action, reward, next observation, done)."""

    def __init__(self, size: int, width: int, acts: int, planted: Planted) -> None:
        self.size, self.planted, self.at, self.full = size, planted, 0, False
        self.obs, self.after = np.zeros((size, width), np.float32), np.zeros((size, width), np.float32)
        self.action = np.zeros((size, acts), np.float32)
        self.reward, self.done = np.zeros(size, np.float32), np.zeros(size, np.float32)
        self.before = 0.0

    def add(self, obs: Any, action: Any, reward: float, after: Any, done: bool) -> None:
        if self.planted.on("rewards-one-late"):
            self.before, reward = reward, self.before
        place = self.at
        self.obs[place], self.action[place], self.after[place] = obs, action, after
        self.reward[place], self.done[place] = reward, float(done)
        self.at = (self.at + 1) % self.size
        self.full = self.full or self.at == 0

    def __len__(self) -> int:
        return self.size if self.full else self.at

    def sample(self, count: int) -> tuple[torch.Tensor, ...]:
        """Return rows that are drawn at random: observations, actions, rewards, next observations, ends."""
        top = self.size if self.planted.on("samples-empty-rows") else len(self)
        idx = np.random.randint(0, top, count)
        after = np.random.randint(0, top, count) if self.planted.on("next-rows-of-others") else idx
        columns = self.obs[idx], self.action[idx], self.reward[idx], self.after[after], self.done[idx]
        return tuple(torch.from_numpy(column) for column in columns)
