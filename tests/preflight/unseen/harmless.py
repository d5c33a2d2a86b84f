"""Odd environments that are right: none of them deserves a warning."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, Tuple
from gymnasium.wrappers import NormalizeObservation, RescaleAction

from ..planted.bases import Drive, Grid, Step, Table, pendulum
from .catalogue import other


@other("sparse-grid")
class Sparse(Grid):
    """Eight by eight cells, 200 steps: random play reaches the only reward in a few episodes of a hundred."""

    size, limit = 8, 200

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed, options=options)
        self.cell = self.np_random.integers(0, 3, 2)
        return self.seen(), {}


@other("rewards-of-ten-thousand")
class Money(Drive):
    """A reward in cents: thousands per step."""

    def pays(self, action: Any) -> Any:
        return 10_000 * (1 - min(2.0, float(np.linalg.norm(self.position))))


@other("dict-of-numbers-and-a-choice")
class Mixed(Table):
    """A dict observation with an array, a whole number and a flag."""

    def __init__(self) -> None:
        super().__init__()
        entries = {"state": Box(-10, 10, (3,), np.float32), "sign": Discrete(2), "on": MultiBinary(3)}
        self.observation_space = Dict(entries)

    def seen(self) -> Any:
        flags = (self.state > 0).astype(np.int8)
        return {"state": self.state.astype(np.float32), "sign": np.int64(self.state[0] > 0), "on": flags}


@other("tuple-observation")
class Pair(Table):
    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Tuple((Box(-10, 10, (2,), np.float32), Box(-10, 10, (1,), np.float32)))

    def seen(self) -> Any:
        return self.state[:2].astype(np.float32), self.state[2:].astype(np.float32)


@other("very-long-episodes")
class Long(Table):
    limit = 20_000


@other("three-step-episodes")
class Short(Table):
    """Three questions, then it is over: a declared end, not a limit."""

    limit = 3

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(-10, 10, (4,), np.float32)

    def seen(self) -> Any:
        return np.append(self.state, self.t).astype(np.float32)

    def ends(self) -> Any:
        return self.t >= self.limit, False


@other("dies-at-random")
class Mortal(Table):
    """Each step ends the episode with probability 0.03, drawn from the environment's own generator."""

    def ends(self) -> Any:
        return bool(self.np_random.random() < 0.03), self.t >= 400


@other("sticky-actions")
class Sticky(Drive):
    """With probability 0.25 the action of the step before is repeated, as Atari environments do."""

    before: Any = np.zeros(2)

    def start(self) -> None:
        super().start()
        self.before = np.zeros(2)

    def moves(self, force: Any) -> None:
        if self.np_random.random() >= 0.25:
            self.before = force
        super().moves(self.before)


@other("slippery-grid")
class Slippery(Grid):
    """One move in five goes elsewhere."""

    def reads(self, action: Any) -> int:
        return int(action) if self.np_random.random() < 0.8 else int(self.np_random.integers(4))


@other("three-switches")
class Switches(Table):
    """A MultiBinary action."""

    def __init__(self) -> None:
        super().__init__()
        self.action_space = MultiBinary(3)

    def step(self, action: Any) -> Step:
        self.t += 1
        push = 0.6 * np.asarray(action, float) - 0.3
        self.state = np.clip(0.9 * self.state + push + 0.05 * self.np_random.normal(size=3), -10, 10)
        return self.seen(), self.pays(), *self.ends(), {}


@other("number-of-a-cell")
class Numbered(Grid):
    """A Discrete observation, and actions that start at 1."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Discrete(self.size**2)
        self.action_space = Discrete(4, start=1)

    def reads(self, action: Any) -> int:
        return int(action) - 1

    def seen(self) -> Any:
        return int(self.cell[0] * self.size + self.cell[1])


@other("delay-that-is-seen")
class Delayed(Drive):
    """Actions are late by one step, and the one on its way is in the observation."""

    waiting: Any = np.zeros(2)

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(-np.inf, np.inf, (6,), np.float32)

    def start(self) -> None:
        super().start()
        self.waiting = np.zeros(2)

    def moves(self, force: Any) -> None:
        force, self.waiting = self.waiting, force
        super().moves(force)

    def seen(self) -> Any:
        return np.concatenate([super().seen(), self.waiting]).astype(np.float32)


@other("wrappers-in-order")
def wrapped() -> Any:
    return NormalizeObservation(RescaleAction(pendulum(), np.float32(-1), np.float32(1)))


@other("reward-of-state-before")
class Before(Drive):
    """R(s, a): the distance at which the action was taken, as Reacher-v4 has it."""

    was = 0.0

    def moves(self, force: Any) -> None:
        self.was = float(np.linalg.norm(self.position))
        super().moves(force)

    def pays(self, action: Any) -> Any:
        return -self.was - 0.1 * float(np.square(action).sum())
