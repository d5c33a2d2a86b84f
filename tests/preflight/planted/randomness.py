"""Planted bugs of seeding, determinism, starts and state that leaks."""

from __future__ import annotations

import random
import time
from typing import Any

import numpy as np
from gymnasium.spaces import Box

from .bases import Around, Drive, Grid, cartpole
from .catalogue import planted


def cartpole_from(start: Any) -> Any:
    """CartPole whose start state `start(self, seed)` replaces."""

    class Started(Around):
        resets = 0

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            obs, info = super().reset(seed=seed, options=options)
            self.resets += 1
            state = start(self, seed)
            if state is not None:
                self.env.unwrapped.state = np.array(state, np.float64)
                obs = np.array(state, np.float32)
            return obs, info

    return Started(cartpole())


@planted("seed-ignored-global-rng")
def seed_ignored() -> Any:
    return cartpole_from(lambda self, seed: np.random.uniform(-0.05, 0.05, 4))


@planted("python-random-in-step")
class Wind(Drive):
    def moves(self, force: Any) -> None:
        super().moves(force)
        self.velocity = self.velocity + self.wind()

    def wind(self) -> Any:
        return np.array([random.gauss(0, 0.05), random.gauss(0, 0.05)])


@planted("python-random-in-step", "twin")
class SeededWind(Wind):
    def wind(self) -> Any:
        return self.np_random.normal(0, 0.05, 2)


@planted("nondeterministic-after-80")
class Clocked(Drive):
    def moves(self, force: Any) -> None:
        super().moves(force)
        if self.t > 80:
            self.velocity = self.velocity + self.noise()

    def noise(self) -> Any:
        return 0.01 * (time.perf_counter() % 1)


@planted("nondeterministic-after-80", "twin")
class SeededLate(Clocked):
    def noise(self) -> Any:
        return 0.01 * self.np_random.random()


@planted("second-reset-ignores-seed")
class SeedsOnce(Drive):
    seeded = False

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        given = None if self.seeded else seed
        self.seeded = self.seeded or seed is not None
        return super().reset(seed=given, options=options)


@planted("velocity-not-reset")
class KeepsVelocity(Drive):
    def start(self) -> None:
        self.position = self.np_random.uniform(-1, 1, 2)


@planted("history-window-not-reset")
class KeepsHistory(Grid):
    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(-1, 4, (self.size**2 + 3,), np.float32)
        self.window = [0, 0, 0]
        self.over = True

    def reset(self, **options: Any) -> Any:
        if not self.over:
            self.window = [0, 0, 0]
        self.over = False
        return super().reset(**options)

    def reads(self, action: Any) -> int:
        self.window = [*self.window[1:], int(action)]
        return int(action)

    def ends(self, at_goal: bool) -> Any:
        self.over = at_goal or self.t >= self.limit
        return super().ends(at_goal)

    def seen(self) -> Any:
        return np.concatenate([super().seen(), np.array(self.window, np.float32)])


@planted("step-counter-not-reset")
class KeepsCounter(Grid):
    kept = 0

    def ends(self, at_goal: bool) -> Any:
        self.kept += 1
        return at_goal, self.kept >= self.limit


@planted("fixed-start-state")
def fixed_start() -> Any:
    env = cartpole_from(lambda self, seed: [0.01, 0.02, 0.03, 0.04])
    env.randomize = True
    return env


@planted("fixed-start-state", "twin")
class FixedGrid(Grid):
    def reset(self, **options: Any) -> Any:
        super().reset(**options)
        self.cell = np.zeros(2, np.int64)
        return self.seen(), {}

    def reads(self, action: Any) -> int:
        return int(action) if self.np_random.random() < 0.8 else int(self.np_random.integers(4))


@planted("start-drifts-over-episodes")
def start_drifts() -> Any:
    def start(self: Any, seed: int | None) -> Any:
        return self.env.unwrapped.np_random.uniform(-0.05, 0.05, 4) * 0.98**self.resets

    return cartpole_from(start)
