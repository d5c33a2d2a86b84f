"""Environments that break the contract, seeding, or good manners in one way each; targets of `preflight env`."""

from __future__ import annotations

import mmap
import os
import random
import subprocess
import sys
import time
import warnings
from typing import Any

import gymnasium as gym
import numpy as np

from tests.unit.preflight.environment.small_worlds import Drive, Grid, Table, changed


def step_with(base: type, change: Any) -> type:
    """A subclass of `base` whose answer to `step` is put through `change(self, answer)`."""

    def step(self: Any, action: Any) -> Any:
        return change(self, base.step(self, action))

    return changed(base, step=step)


def at(base: type, t: int, place: int, value: Any) -> type:
    """`base` with one of the five values of step `t` and later replaced."""

    def change(self: Any, answer: Any) -> Any:
        return (*answer[:place], value, *answer[place + 1 :]) if self.t >= t else answer

    return step_with(base, change)


def reset_with(base: type, before: Any = None, after: Any = None) -> type:
    """A subclass of `base` that does something before or after each reset."""

    def reset(self: Any, seed: int | None = None, options: Any = None) -> Any:
        if before is not None:
            before(self)
        told = base.reset(self, seed=seed)
        return told if after is None else after(self, told)

    return changed(base, reset=reset)


FourValues = step_with(Drive, lambda self, answer: answer[:4])
ShapeAt30 = at(Drive, 30, 0, np.zeros(5, np.float32))
ListAt30 = at(Drive, 30, 0, [0.0] * 4)
DoubleAlways = step_with(Drive, lambda self, answer: (answer[0].astype(float), *answer[1:]))
RewardArray = step_with(Drive, lambda self, answer: (answer[0], np.array([answer[1]]), *answer[2:]))
RewardNumpy = step_with(Drive, lambda self, answer: (answer[0], np.float64(answer[1]), *answer[2:]))
FlagsAsInts = step_with(Drive, lambda self, answer: (*answer[:2], int(answer[2]), None, answer[4]))
FlagsNumpy = step_with(Drive, lambda self, answer: (*answer[:2], np.bool_(answer[2]), np.bool_(answer[3]), answer[4]))
BareReset = changed(Drive, reset=lambda self, seed=None, options=None: Drive.reset(self, seed=seed)[0])
BlindAfter60 = at(Table, 61, 0, np.full(3, np.nan, np.float32))
UnpaidAfter60 = at(Table, 61, 1, float("inf"))
InfoNone = at(Drive, 20, 4, None)


class OutOfBounds(Table):
    def look(self) -> Any:
        return self.state.astype(np.float32) + np.float32(11 if self.t > 60 else 0)


class AtTheBound(Table):
    def look(self) -> Any:
        return np.where(self.t > 60, np.float32(10.0), self.state).astype(np.float32)


class RaisesOnPair(Grid):
    """Raises when action 0 is followed by action 2."""

    last = -1

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.last = -1
        return super().reset(seed=seed)

    def step(self, action: Any) -> Any:
        if (self.last, int(action)) == (0, 2):
            raise IndexError("no such row")
        self.last = int(action)
        return super().step(action)


class NumpyMisread(Grid):
    def step(self, action: Any) -> Any:
        return super().step(action if type(action) is int else 0)


class GlobalStart(Drive):
    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.state[:2] = np.random.uniform(-1, 1, 2)
        return self.look(), {}


class GlobalWind(Drive):
    def force(self, action: Any) -> Any:
        return super().force(action) + random.gauss(0, 0.1)


class OwnWind(Drive):
    def force(self, action: Any) -> Any:
        return super().force(action) + self.random.normal(0, 0.1)


class ClockAfter80(Drive):
    def move(self, force: Any) -> None:
        super().move(force)
        if self.t > 80:
            self.state[2] += 0.01 * (time.perf_counter_ns() % 1000) / 1000


class SeedsOnce(Drive):
    used = False

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        told = super().reset(seed=None if self.used else seed)
        self.used = True
        return told


class KeepsVelocity(Drive):
    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        speed = self.state[2:].copy() if hasattr(self, "state") else np.zeros(2)
        super().reset(seed=seed)
        self.state[2:] = speed
        return self.look(), {}


class ShrinkingStart(Drive):
    width = 1.0

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.width *= 0.98
        self.state[:2] *= self.width
        return self.look(), {}


class FixedStart(Drive):
    """Starts at a random place when `randomize` is True."""

    def __init__(self) -> None:
        super().__init__()
        self.randomize = True

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.state[:] = (0.5, 0.5, 0.0, 0.0)
        return self.look(), {}


class DeclaredStart(Drive):
    """One corner, always the same."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.state[:] = (0.5, 0.5, 0.0, 0.0)
        return self.look(), {}


class SameWithoutSeed(Drive):
    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        return super().reset(seed=7 if seed is None else seed)


class OneBuffer(Drive):
    def look(self) -> Any:
        if not hasattr(self, "buffer"):
            self.buffer = np.zeros(4, np.float32)
        self.buffer[:] = self.state
        return self.buffer


class BufferCopied(OneBuffer):
    def look(self) -> Any:
        return super().look().copy()


class WritesAction(Drive):
    def step(self, action: Any) -> Any:
        action *= 0.5
        return super().step(action)


class Swallows(Drive):
    def step(self, action: Any) -> Any:
        self.t += 1
        try:
            if self.t % 20 == 0:
                raise ValueError("solver")
            self.move(self.force(np.asarray(action, float)))
        except ValueError:
            return self.look(), 0.0, False, self.truncated(), {}
        return self.look(), self.pay(), False, self.truncated(), {}


Reseeds = reset_with(Drive, before=lambda self: np.random.seed(3))
ChangesProcess = reset_with(Drive, before=lambda self: os.environ.update(FIRSTBREAK_TEST=str(time.time_ns())))
Silences = changed(Drive, __init__=lambda self: (Drive.__init__(self), warnings.simplefilter("ignore"))[0])
Prints = step_with(Drive, lambda self, answer: (print("x" * 200), answer)[1])
PrintsOnce = changed(Drive, __init__=lambda self: (Drive.__init__(self), print("hello"))[0])
KEPT: list[Any] = []
PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
# Mapped anew each time: in a long test process the allocator may have so much free that a leak does not show.
Leaks = reset_with(Drive, before=lambda self: KEPT.append(mmap.mmap(-1, 2_000_000, flags=PRIVATE)))
CloseRaises = changed(Drive, close=lambda self: 1 / 0)
Forks = reset_with(
    Drive, before=lambda self: KEPT.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]))
)


def in_a_fork(work: Any) -> Any:
    """`before` of a reset: a fork does `work`; what it does not end itself runs on."""

    def before(self: Any) -> None:
        if os.fork() == 0:
            work()
        elif work is not runs_on:
            os.wait()

    return before


def hide_and_hold() -> None:
    """Leave the group, leave the parent, and hold 100 MB for a minute."""
    os.setsid()
    if os.fork() == 0:
        held = bytearray(100_000_000)
        held[::4096] = b"x" * len(held[::4096])
        time.sleep(60)
    os._exit(0)


def runs_on() -> None:
    """Nothing: the copy returns to whoever called reset."""


ForksBare = reset_with(Drive, before=in_a_fork(runs_on))
ForksAndRaises = reset_with(Drive, before=in_a_fork(lambda: 1 / 0))
ForksAndEnds = reset_with(Drive, before=in_a_fork(lambda: os._exit(0)))
ForksHoarders = reset_with(Drive, before=in_a_fork(hide_and_hold))


class ResetsItself(Drive):
    def step(self, action: Any) -> Any:
        told = super().step(action)
        if self.t >= 20:
            seen, _ = super().reset(seed=int(self.random.integers(1 << 30)))
            return seen, told[1], True, False, {}
        return told


class HangsAt40(Drive):
    def step(self, action: Any) -> Any:
        if self.t >= 40:
            time.sleep(1000)
        return super().step(action)


class ExitsAt90(Drive):
    def step(self, action: Any) -> Any:
        if self.t >= 89:
            os._exit(3)
        return super().step(action)


class HangsOnSecondReset(Drive):
    fresh = False

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        if self.fresh:
            time.sleep(1000)
        self.fresh = True
        return super().reset(seed=seed)

    def step(self, action: Any) -> Any:
        self.fresh = False
        return super().step(action)


class Eats(Drive):
    def step(self, action: Any) -> Any:
        KEPT.append(np.ones(2_000_000))
        return super().step(action)


class Merges(gym.Wrapper[Any, Any, Any, Any]):
    """Reports both ends as terminated."""

    def step(self, action: Any) -> Any:
        seen, reward, terminated, truncated, info = self.env.step(action)
        return seen, reward, terminated or truncated, False, info


class Repeats(gym.Wrapper[Any, Any, Any, Any]):
    """Repeats each action four times; goes on after an end unless `stop`."""

    stop = False

    def step(self, action: Any) -> Any:
        told = self.env.step(action)
        for _ in range(3):
            if self.stop and (told[2] or told[3]):
                break
            told = self.env.step(action)
        return told


class RepeatsUntilEnd(Repeats):
    stop = True


class OldDrive:
    """The interface of gym before 0.26."""

    tell = False

    def __init__(self) -> None:
        self.inner = Drive()
        self.observation_space, self.action_space = self.inner.observation_space, self.inner.action_space
        self.next_seed: int | None = None

    def seed(self, seed: int | None = None) -> None:
        self.next_seed = seed

    def reset(self) -> Any:
        seed, self.next_seed = self.next_seed, None
        return self.inner.reset(seed=seed)[0]

    def step(self, action: Any) -> Any:
        seen, reward, terminated, truncated, info = self.inner.step(action)
        if truncated and self.tell:
            info["TimeLimit.truncated"] = not terminated
        return seen, reward, terminated or truncated, info


class OldTelling(OldDrive):
    tell = True


def merged() -> Any:
    return Merges(gym.make("Pendulum-v1"))


def repeated() -> Any:
    return Repeats(gym.make("CartPole-v1"))


def repeated_well() -> Any:
    return RepeatsUntilEnd(gym.make("CartPole-v1"))


def clipped_inside() -> Any:
    env: Any = gym.wrappers.TransformAction(gym.make("Pendulum-v1"), lambda a: np.clip(a, -1, 1), None)
    return gym.wrappers.TransformAction(env, lambda a: 1.0 * a, None)


def unscaled(low: float, high: float) -> Any:
    """Pendulum, whose torque goes from -2 to 2, behind a wrapper that declares other bounds and does nothing else."""
    return gym.wrappers.TransformAction(gym.make("Pendulum-v1"), lambda a: a, gym.spaces.Box(low, high, (1,)))


class TwoAgents:
    """Two agents on one line each; the PettingZoo parallel interface."""

    possible_agents = ("one", "two")
    limit = 40

    def __init__(self) -> None:
        self.spaces = {a: gym.spaces.Box(-5, 5, (1,), np.float32) for a in self.possible_agents}
        self.choices = {a: gym.spaces.Discrete(2) for a in self.possible_agents}

    def observation_space(self, agent: str) -> Any:
        return self.spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self.choices[agent]

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.random = np.random.default_rng(seed)
        self.agents, self.t = list(self.possible_agents), 0
        self.place = {a: float(self.random.uniform(-1, 1)) for a in self.agents}
        return self.seen(), {a: {} for a in self.agents}

    def seen(self) -> Any:
        return {a: np.array([self.place[a]], np.float32) for a in self.agents}

    def pays(self) -> Any:
        return {a: -abs(self.place[a]) for a in self.agents}

    def step(self, actions: Any) -> Any:
        self.t += 1
        for agent in self.agents:
            self.place[agent] = 0.9 * self.place[agent] + 0.2 * (2 * int(actions[agent]) - 1)
        seen, paid, over = self.seen(), self.pays(), self.t >= self.limit
        flags = dict.fromkeys(self.agents, False), dict.fromkeys(self.agents, over)
        infos: dict[str, Any] = {a: {} for a in self.agents}
        self.agents = [] if over else self.agents
        return seen, paid, *flags, infos

    def close(self) -> None:
        pass


class SecondUnseen(TwoAgents):
    """The second agent sees NaN from step 30 on."""

    def seen(self) -> Any:
        return super().seen() | ({"two": np.array([np.nan], np.float32)} if self.t >= 30 else {})


class SecondUnpaid(TwoAgents):
    def pays(self) -> Any:
        return super().pays() | ({"two": None} if self.t >= 30 else {})


class SecondGone(TwoAgents):
    """The second agent ends at step 30 and leaves all dictionaries, which is right."""

    def step(self, actions: Any) -> Any:
        told = super().step(actions)
        if self.t == 30:
            told[2]["two"] = True
            self.agents = ["one"]
        return told


class TwoPlaces(Grid):
    """Starts in one of two cells: fresh environments begin alike every second time."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.cell = (int(self.random.integers(2)), 0)
        return self.look(), {}


def vector(mode: str = "NextStep", make: Any = Drive) -> Any:
    return gym.vector.SyncVectorEnv([make] * 4, autoreset_mode=gym.vector.AutoresetMode(mode))


def wrong_make() -> Any:
    raise RuntimeError("no display")


def forking_policy(seen: Any) -> Any:
    """A policy for `Drive` that leaves a copy of the process behind each time it is asked."""
    os.fork()
    return np.tanh(-np.asarray(seen[:2])).astype(np.float32)


def hanging_policy(seen: Any) -> Any:
    """A policy that waits for ever at its first observation."""
    time.sleep(3600)
