"""Bugs of what is seen: stacks, pixels, counters, clipping, directions."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box

from ..planted.bases import Drive, Grid, Step, Table
from .catalogue import bug, other


class Stacked(Drive):
    """Positions only, the last three of them; a start is repeated three times."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(-np.inf, np.inf, (6,), np.float32)
        self.frames: list[Any] = []

    def start(self) -> None:
        super().start()
        self.frames = [self.position.copy()] * 3

    def seen(self) -> Any:
        if self.t:
            self.frames = [*self.frames[1:], self.position.copy()]
        return np.concatenate(self.frames).astype(np.float32)


other("frame-stack")(Stacked)


@bug("stack-of-one-frame", Stacked)
class OneFrame(Stacked):
    """`[frame] * 3`: the stack holds the newest frame three times."""

    def seen(self) -> Any:
        return np.concatenate([self.position] * 3).astype(np.float32)


class Pixels(gym.Env[Any, Any]):
    """A bright square on a grey ground, moved by four actions; 24 x 24 x 3 bytes, 80 steps."""

    limit, size = 80, 24
    moves = ((0, 2), (0, -2), (-2, 0), (2, 0))

    def __init__(self) -> None:
        self.observation_space = Box(0, 255, (self.size, self.size, 3), np.uint8)
        self.action_space = gym.spaces.Discrete(4)
        self.at, self.t = np.zeros(2, int), 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at, self.t = self.np_random.integers(0, self.size - 4, 2), 0
        return self.seen(), {}

    def step(self, action: Any) -> Step:
        self.t += 1
        self.at = np.clip(self.at + np.array(self.moves[int(action)]), 0, self.size - 4)
        return self.seen(), -float(np.abs(self.at - 10).sum()) / 20, False, self.t >= self.limit, {}

    def picture(self) -> Any:
        picture = np.full((self.size, self.size, 3), 60, np.uint8)
        picture[self.at[0] : self.at[0] + 4, self.at[1] : self.at[1] + 4] = (200, 180, 40)
        return picture

    def seen(self) -> Any:
        return self.picture()


other("pixels")(Pixels)


@bug("pixels-divided-then-cast", Pixels)
class Divided(Pixels):
    """`(picture / 255).astype(uint8)`: all is 0."""

    def seen(self) -> Any:
        return (self.picture() / 255).astype(np.uint8)


class Fuel(Table):
    """Table with a tank of eight units that one action burns; empty, the push is gone."""

    bottom = 0

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(-10, 10, (4,), np.float32)
        self.fuel = np.uint8(8)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.fuel = np.uint8(8)
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> Step:
        if int(action) == 1:
            self.fuel = self.burned()
        return super().step(action if self.fuel else 0)

    def burned(self) -> Any:
        return np.uint8(max(0, int(self.fuel) - 1))

    def seen(self) -> Any:
        return np.append(self.state, self.fuel).astype(np.float32)


@bug("counter-wraps-around", Fuel)
class Wraps(Fuel):
    """An unsigned byte goes from 0 to 255."""

    def burned(self) -> Any:
        return np.uint8((int(self.fuel) - 1) % 256)


class Compass(Grid):
    """Where the middle cell lies, as a direction and a distance; in the middle the direction is 0."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(-10, 10, (3,), np.float32)

    def seen(self) -> Any:
        away = np.array([1, 3]) - self.cell
        far = float(np.linalg.norm(away))
        return np.append(self.direction(away, far), far).astype(np.float32)

    def direction(self, away: Any, far: float) -> Any:
        return away / far if far else np.zeros(2)


@bug("direction-zero-over-zero", Compass)
class ZeroOverZero(Compass):
    def direction(self, away: Any, far: float) -> Any:
        with np.errstate(all="ignore"):
            return np.divide(away, far)


class Scaled(Drive):
    """Observations divided by a constant and clipped to [-1, 1]."""

    divisor = 10.0

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(-1, 1, (4,), np.float32)

    def seen(self) -> Any:
        return np.clip(super().seen() / np.float32(self.divisor), -1, 1)


@bug("scaled-by-wrong-constant-and-clipped", Scaled)
class Saturated(Scaled):
    """Divided by 0.01: nearly every entry is -1 or 1."""

    divisor = 0.01
