"""The replay buffer of the fourth list's scripts, and what goes wrong with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from benchmarks.outside.single import replay


class Replay(replay.Replay):
    """Rows of (observation, action, reward, next observation, done)."""

    def add(self, obs: Any, action: Any, reward: float, after: Any, done: bool) -> None:
        if self.planted.on("buffer-never-overwritten") and self.full:
            return
        if self.planted.on("row-aliased"):  # both are the array that the task goes on writing into
            obs = after
        super().add(obs, action, reward, after, done)

    def sample(self, count: int) -> tuple[torch.Tensor, ...]:
        """Return rows that are drawn at random: observations, actions, rewards, next observations, ends."""
        obs, action, reward, after, done = super().sample(count)
        on = self.planted.on
        if on("next-and-reward-of-other-rows"):
            after, reward = (torch.from_numpy(column[self.others(count)]) for column in (self.after, self.reward))
        if on("outcome-of-other-row"):
            idx = self.others(count)
            after, reward = torch.from_numpy(self.after[idx]), torch.from_numpy(self.reward[idx])
        return obs, action, reward, after, done

    def others(self, count: int) -> np.ndarray:
        """Return an index of its own."""
        return np.random.randint(0, len(self), count)
