"""Small environments of our own, which a trainer learns within seconds."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

ROWS, COLUMNS = 8, 5
REACH_STEPS = 50
CORRIDOR, CORRIDOR_STEPS = 6, 40


class Catch(gym.Env[Any, Any]):
    """A ball falls straight down; the paddle must be below it (Osband et al. 2020, arXiv 1908.03568, "catch")."""

    metadata: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(0.0, 1.0, (ROWS * COLUMNS,), np.float32)
        self.action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.row, self.column, self.paddle = 0, int(self.np_random.integers(COLUMNS)), COLUMNS // 2
        return self.board(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.paddle = min(max(self.paddle + int(action) - 1, 0), COLUMNS - 1)
        self.row = min(self.row + 1, ROWS - 1)
        over = self.row == ROWS - 1
        reward = (1.0 if self.paddle == self.column else -1.0) if over else 0.0
        return self.board(), reward, over, False, {}

    def board(self) -> Any:
        board = np.zeros((ROWS, COLUMNS), np.float32)
        board[self.row, self.column] = 1.0
        board[-1, self.paddle] = 1.0
        return board.reshape(-1)


class Reach(gym.Env[Any, Any]):
    """A mass on a plane is pushed to a goal and should stay there; the reward is minus distance minus effort."""

    metadata: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-4.0, 4.0, (6,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.speed, self.count = self.np_random.uniform(-1, 1, 2), np.zeros(2), 0
        self.goal = self.np_random.uniform(-1, 1, 2)
        return self.seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        push = np.clip(np.asarray(action, float), -1, 1)
        self.speed = 0.7 * self.speed + 0.1 * push
        self.place = np.clip(self.place + self.speed, -2, 2)
        self.count += 1
        distance, effort = float(np.linalg.norm(self.goal - self.place)), 0.05 * float(push @ push)
        # The terms are told apart in `info`, so that a fault can turn the sign of one.
        terms = {"distance": -distance, "effort": -effort}
        return self.seen(), -distance - effort, False, self.count >= REACH_STEPS, {"terms": terms}

    def seen(self) -> Any:
        return np.concatenate([self.goal - self.place, self.speed, self.place]).astype(np.float32)


class ReachScaled(Reach):
    """Reach in units that nobody would choose: without a normaliser it is hardly learnable."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (6,), np.float32)

    def seen(self) -> Any:
        return (super().seen() * np.array([100, 0.01, 100, 0.1, 10, 1]) + 5).astype(np.float32)


class Corridor(gym.Env[Any, Any]):
    """Only at the far end, and only every other time, something is paid: sparse, and its returns vary widely."""

    metadata: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(0.0, 1.0, (CORRIDOR,), np.float32)
        self.action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.at, self.count = 0, 0
        return self.seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.count += 1
        self.at = self.at + 1 if int(action) == 1 else max(self.at - 1, 0)
        over = self.at >= CORRIDOR - 1
        paid = float(self.np_random.choice([0.0, 20.0])) if over else 0.0
        return self.seen(), paid, over, self.count >= CORRIDOR_STEPS and not over, {}

    def seen(self) -> Any:
        row = np.zeros(CORRIDOR, np.float32)
        row[min(self.at, CORRIDOR - 1)] = 1.0
        return row


OWN = {"Catch": Catch, "Reach": Reach, "ReachScaled": ReachScaled, "Corridor": Corridor}


def made(name: str) -> gym.Env[Any, Any]:
    """Return the environment of a task, with its time limit."""
    return OWN[name]() if name in OWN else gym.make(name)
