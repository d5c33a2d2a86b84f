"""A maze with a mask of the moves that are open, a reach task with goals, and their bugs."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete

from ..planted.bases import Drive, Step
from .catalogue import bug, harmless

WALLS = frozenset({(1, 1), (1, 2), (2, 4), (3, 1), (3, 4), (4, 2), (4, 3)})


class Maze(gym.Env[Any, Any]):
    """Six by six cells with walls; a mask of open moves is seen; a closed move changes no cell."""

    size, limit, late = 6, 150, False
    directions = ((0, 1), (0, -1), (-1, 0), (1, 0))

    def __init__(self) -> None:
        self.observation_space = Dict(
            {"observation": Box(0, 1, (self.size**2,), np.float32), "action_mask": Box(0, 1, (4,), np.int8)}
        )
        self.action_space = Discrete(4)
        self.cell, self.before, self.t = (0, 0), (0, 0), 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        free = [(r, c) for r in range(self.size) for c in range(self.size) if self.open((r, c))][:-1]
        self.cell = self.before = free[int(self.np_random.integers(len(free)))]
        self.t = 0
        return self.seen(), {}

    def open(self, cell: tuple[int, int]) -> bool:
        return min(cell) >= 0 and max(cell) < self.size and cell not in WALLS

    def to(self, cell: tuple[int, int], way: int) -> tuple[int, int]:
        return cell[0] + self.directions[way][0], cell[1] + self.directions[way][1]

    def step(self, action: Any) -> Step:
        self.t += 1
        self.before, there = self.cell, self.to(self.cell, int(action))
        self.cell = there if self.open(there) else self.cell
        home = self.cell == (self.size - 1, self.size - 1)
        return self.seen(), 1.0 if home else -0.01, home, self.t >= self.limit, {}

    def seen(self) -> Any:
        place = np.zeros(self.size**2, np.float32)
        place[self.cell[0] * self.size + self.cell[1]] = 1
        asked = self.before if self.late else self.cell
        mask = np.array([self.open(self.to(asked, way)) for way in range(4)], np.int8)
        return {"observation": place, "action_mask": mask}


harmless("maze-with-mask")(Maze)


@bug("mask-of-the-cell-before", Maze)
class LateMask(Maze):
    """The mask is worked out before the move, so it tells which moves were open in the cell before."""

    late = True


class Reach(Drive):
    """A goal per episode, the three keys of goal tasks, 0 within 0.3 of the goal and -1 elsewhere; 80 steps."""

    limit, reach = 80, 0.3
    goal: Any = np.zeros(2)

    def __init__(self) -> None:
        super().__init__()
        pair = Box(-np.inf, np.inf, (2,), np.float32)
        self.observation_space = Dict({"achieved_goal": pair, "desired_goal": pair, "observation": pair})

    def start(self) -> None:
        super().start()
        self.goal = self.np_random.uniform(-1, 1, 2)

    def seen(self) -> Any:
        parts = {"achieved_goal": self.position, "desired_goal": self.goal, "observation": self.velocity}
        return {name: np.array(value, np.float32) for name, value in parts.items()}

    def pays(self, action: Any) -> Any:
        return -float(np.linalg.norm(self.position - self.goal) >= self.reach)

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        away = np.linalg.norm(np.asarray(achieved_goal) - np.asarray(desired_goal), axis=-1)
        return -(away >= self.reach).astype(np.float64)

    def ends(self) -> Any:
        return False, self.t >= self.limit


harmless("reach-with-compute-reward")(Reach)


@bug("compute-reward-squares-the-distance", Reach)
class Squares(Reach):
    """compute_reward compares the squared distance with the radius, step the distance: relabelled rewards differ."""

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        away = np.square(np.asarray(achieved_goal) - np.asarray(desired_goal)).sum(-1)
        return -(away >= self.reach).astype(np.float64)


@bug("goal-drawn-at-every-look", Reach)
class Redraws(Reach):
    """The goal is drawn where the observation is put together, so each step has another one."""

    def seen(self) -> Any:
        self.goal = self.np_random.uniform(-1, 1, 2)
        return super().seen()
