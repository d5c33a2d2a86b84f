"""Bugs of spaces, flags, seeds and of what lives outside the episode."""

from __future__ import annotations

import threading
import time
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, MultiDiscrete

from ..planted.bases import Around, Drive, Grid, Step, Table, cartpole, pendulum
from .catalogue import bug, other


@bug("bounds-of-two-entries-swapped", cartpole)
def bounds_swapped() -> Any:
    env = Around(cartpole())
    low, high = env.observation_space.low.copy(), env.observation_space.high.copy()
    low[[0, 2]], high[[0, 2]] = (-0.05, 4.0), (0.05, 4.8)
    env.observation_space = Box(low, high)
    return env


@bug("reset-returns-sample-of-space", Drive)
class SampledStart(Drive):
    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(-5, 5, (4,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed, options=options)
        return self.observation_space.sample(), {}


@bug("flag-as-array", pendulum)
def flag_as_array() -> Any:
    class Arrays(Around):
        def changed(self, obs: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Step:
            return obs, reward, np.array([terminated]), np.array([truncated]), info

    return Arrays(pendulum())


class OldTable:
    """Table with the interface of gym before 0.26."""

    bug = False

    def __init__(self) -> None:
        self.env = Table()
        self.observation_space, self.action_space = self.env.observation_space, self.env.action_space

    def seed(self, seed: int | None = None) -> None:
        self.env.reset(seed=seed)

    def reset(self) -> Any:
        return self.env.reset()[0]

    def step(self, action: Any) -> Any:
        obs, reward, _, cut, _ = self.env.step(action)
        # The branch for action 1 has no return value of its own.
        done = None if self.bug and int(action) == 1 and not cut else cut
        return obs, reward, done, {"TimeLimit.truncated": True} if cut else {}

    def close(self) -> None:
        pass


@bug("old-gym-done-none", OldTable)
def old_done_none() -> Any:
    env = OldTable()
    env.bug = True
    return env


@other("old-gym-that-tells")
def old_gym_that_tells() -> Any:
    return OldTable()


@bug("space-changes-with-episode", Drive)
class Obstacles(Drive):
    """The number of obstacles is drawn per episode, and the observation grows with it."""

    obstacles = 0

    def start(self) -> None:
        super().start()
        self.obstacles = int(self.np_random.integers(0, 3))
        self.observation_space = Box(-np.inf, np.inf, (4 + self.obstacles,), np.float32)

    def seen(self) -> Any:
        return np.append(super().seen(), np.full(self.obstacles, 0.5, np.float32))


@bug("seeds-itself-in-every-reset", cartpole)
def seeds_itself() -> Any:
    class Seeds(Around):
        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            return super().reset(seed=42 if seed is None else seed, options=options)

    return Seeds(cartpole())


@bug("state-in-class-attribute", Drive)
class Shared(Drive):
    """Position and velocity live on the class, so that all instances move one mass."""

    body: ClassVar[dict[str, Any]] = {"position": np.zeros(2), "velocity": np.zeros(2)}

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("position", "velocity"):
            self.body[name] = value
        else:
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name in ("position", "velocity"):
            return self.body[name]
        raise AttributeError(name)


@bug("dt-from-clock", Drive)
class Clocked(Drive):
    """The time step is the time since the last call."""

    before = 0.0

    def moves(self, force: Any) -> None:
        now = time.perf_counter()
        dt = min(0.2, 0.05 + 100 * (now - self.before))
        self.before = now
        self.velocity = self.velocity + dt * (force - self.drag * self.velocity)
        self.position = self.position + dt * self.velocity


@bug("threads-pile-up", cartpole)
def threads() -> Any:
    class Threads(Around):
        def reset(self, **options: Any) -> Any:
            threading.Thread(target=threading.Event().wait, daemon=True).start()
            return super().reset(**options)

    return Threads(cartpole())


@bug("breakpoint-left-in", Grid)
class Breakpoint(Grid):
    def goes(self, chosen: int) -> None:
        super().goes(chosen)
        if self.t == 25:
            input("continue? ")


@bug("data-runs-out", Table)
class FromFile(Table):
    """Each episode takes the next record of a file of thirty."""

    def __init__(self) -> None:
        super().__init__()
        self.records = iter(np.random.default_rng(0).normal(size=(30, 3)))

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed, options=options)
        self.state = self.state + 0.1 * next(self.records)
        return self.seen(), {}


class Slots(gym.Env[Any, Any]):
    """Two dials of three settings each, moved by two entries of the action."""

    index = (0, 1)
    limit = 60

    def __init__(self) -> None:
        self.observation_space = Box(-10, 10, (2,), np.float32)
        self.action_space = MultiDiscrete([3, 3])
        self.dials, self.t = np.zeros(2), 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.dials, self.t = self.np_random.normal(size=2), 0
        return self.dials.astype(np.float32), {}

    def step(self, action: Any) -> Step:
        self.t += 1
        pushed = np.array([int(action[i]) - 1 for i in self.index])
        self.dials = np.clip(0.9 * self.dials + 0.3 * pushed + 0.05 * self.np_random.normal(size=2), -10, 10)
        return self.dials.astype(np.float32), -float(np.abs(self.dials).sum()), False, self.t >= self.limit, {}


@bug("second-action-entry-reads-first", Slots)
class OneIndex(Slots):
    index = (0, 0)


other("multi-discrete")(Slots)
