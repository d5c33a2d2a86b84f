"""An even random draw of the states of a stream of episodes, each with the return of its episode."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .trajectory import Floats

MOST_STATES = 4000
"""States that coverage is taken from. Engineering default: the entropy compares each with each."""


class States:
    """States with random keys; those of the highest keys are kept."""

    def __init__(self, most: int = MOST_STATES, seed: int = 0) -> None:
        """Start without a state."""
        self._most = most
        self._random = np.random.default_rng(seed)
        self._keys: Floats = np.empty(0)
        self._states: Floats | None = None
        self._episodes: NDArray[np.int64] = np.empty(0, np.int64)
        self.seen = 0

    def add(self, states: Floats, episode: int) -> bool:
        """Take in the states [T, features] of an episode; False, and nothing, where they are of another width."""
        if self._states is None:
            self._states = np.empty((0, states.shape[1]))
        if states.shape[1] != self._states.shape[1]:
            return False
        self._keys = np.concatenate([self._keys, self._random.random(len(states))])
        self._states = np.concatenate([self._states, states])
        self._episodes = np.concatenate([self._episodes, np.full(len(states), episode)])
        self.seen += len(states)
        if self._keys.size > 4 * self._most:
            self._cut()
        return True

    def _cut(self) -> None:
        if self._states is not None and self._keys.size > self._most:
            kept = np.sort(np.argpartition(self._keys, -self._most)[-self._most :])
            self._keys, self._states, self._episodes = self._keys[kept], self._states[kept], self._episodes[kept]

    def drawn(self) -> tuple[Floats, NDArray[np.int64]]:
        """Return the states [N, features] and the episode of each [N]."""
        self._cut()
        return (np.empty((0, 0)) if self._states is None else self._states), self._episodes
