"""Small tasks of the walk: one state or two, one step an episode, learnt within a thousand steps."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

ACTIONS = 4


class Arms(gymnasium.Env[Any, Any]):
    """One state, four actions; the last pays 1 and the others nothing, all with noise of spread `sd`."""

    def __init__(self, sd: float = 0.0, pays: float = 1.0) -> None:
        self.sd, self.pays = sd, pays
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (1,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(ACTIONS)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        del options
        super().reset(seed=seed)
        return np.ones(1, np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        paid = self.pays if int(action) == ACTIONS - 1 else 0.0
        return np.ones(1, np.float32), paid + self.sd * float(self.np_random.normal()), True, False, {}


class Sides(gymnasium.Env[Any, Any]):
    """Two states, two actions: the side that is seen pays. The two observations are `gap` apart, at `offset`."""

    def __init__(self, gap: float = 2.0, offset: float = 0.0) -> None:
        self.gap, self.offset, self.side = gap, offset, 0
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (1,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(2)

    def seen(self) -> Any:
        return np.array([self.offset + (self.side - 0.5) * self.gap], np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        del options
        super().reset(seed=seed)
        self.side = int(self.np_random.integers(2))
        return self.seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self.seen(), float(int(action) == self.side), True, False, {}


def arms() -> Arms:
    return Arms()


def noisy_arms() -> Arms:
    """What a few rows say is mostly noise."""
    return Arms(sd=1.0)


def deaf_arms() -> Arms:
    """Whatever is done pays alike."""
    return Arms(sd=1.0, pays=0.0)


def sides() -> Sides:
    return Sides()


def far_sides() -> Sides:
    """A fifth of a unit apart, at 300: on no scale that a network starts out for."""
    return Sides(gap=0.2, offset=300.0)


def last_arm(obs: Any) -> int:
    """Who plays `arms` well."""
    del obs
    return ACTIONS - 1
