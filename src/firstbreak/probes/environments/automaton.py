"""`Automaton`: plays a `World` as a Gymnasium environment; about two microseconds a step."""

from __future__ import annotations

import random
from itertools import count
from typing import Any

import gymnasium
import numpy as np

from .ledger import Ledger
from .world import GOES_ON, TERMINATED, TRUNCATED, Kind, World

_copies = count()


class Automaton(gymnasium.Env[Any, Any]):
    """One copy of a world. `ledger`, when given, hears of every step."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (Gymnasium's own form)

    def __init__(self, world: World, kind: Kind, ledger: Ledger | None = None) -> None:
        self.world, self.kind, self.ledger = world, kind, ledger
        width = len(world.observations[0])
        self.observation_space = gymnasium.spaces.Box(-1.0, 1.0, (width,), np.float32)
        self.action_space = _action_space(world, kind)
        self._table = np.array(world.observations, dtype=np.float32)
        self._copy = ledger.next_copy() if ledger is not None else next(_copies)
        self._random = random.Random()  # noqa: S311 (a game, not a secret)
        self._state = -1
        self._turn = 0
        self._several = bool(world.targets)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        if seed is not None:
            super().reset(seed=seed)
            self._random.seed(seed)
        starts = self.world.starts
        if self.world.by_copy:
            which = self._copy % len(starts)
        elif self.world.alternates:
            which, self._turn = self._turn % len(starts), self._turn + 1
        else:
            which = int(self._random.random() * len(starts))
        self._state = starts[which]
        if self.ledger is not None:
            self.ledger.begin()
        return self._table[self._state].copy(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one step."""
        state = self._state
        if state < 0:
            raise RuntimeError("step was called before reset, or after the end of an episode")
        cell = self._cell(action)
        world = self.world
        reward = self._reward(state, cell, action)
        end = world.ends[state][cell]
        after = world.successors[state][cell]
        self._state = after if end == GOES_ON else -1
        if self.ledger is not None:
            self.ledger.note(state, cell, action)
        return self._table[after].copy(), reward, end == TERMINATED, end == TRUNCATED, {}

    def _cell(self, action: Any) -> int:
        cells = self.world.cells
        if cells == 1:
            return 0
        if self.kind == "discrete":
            return int(action)
        low, high = self.world.low[0], self.world.high[0]
        cell = int((float(action[0]) - low) / (high - low) * cells)
        return cell if 0 <= cell < cells else (0 if cell < 0 else cells - 1)

    def _reward(self, state: int, cell: int, action: Any) -> float:
        if self._several:
            return self._mean_over_dimensions(action)
        rewards = self.world.rewards[state]
        if self.world.graded and self.kind == "continuous":
            low, high = self.world.low[0], self.world.high[0]
            share = min(max((float(action[0]) - low) / (high - low), 0.0), 1.0)
            return rewards[0][0] * (1.0 - share) + rewards[-1][0] * share
        choices = rewards[cell]
        return choices[0] if len(choices) == 1 else choices[int(self._random.random() * len(choices))]

    def _mean_over_dimensions(self, action: Any) -> float:
        world = self.world
        if self.kind == "discrete":
            return sum(int(a) == right for a, (_, right) in zip(action, world.choices, strict=True)) / len(
                world.choices
            )
        total = 0.0
        for a, low, high, target in zip(action, world.low, world.high, world.targets, strict=True):
            total += 1.0 - abs(min(max(float(a), low), high) - target) / (high - low)
        return total / len(world.targets)


def _action_space(world: World, kind: Kind) -> Any:
    spaces = gymnasium.spaces
    if kind == "continuous":
        return spaces.Box(np.array(world.low, np.float32), np.array(world.high, np.float32), dtype=np.float32)
    if world.choices:
        return spaces.MultiDiscrete([n for n, _ in world.choices])
    return spaces.Discrete(max(world.cells, 2))
