"""Environments that are each broken in one way, and their harmless twins; subclasses of the small environments."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from tests.unit.preflight.environment.small_worlds import Drive, Grid, Table, changed, wrapped

CARTPOLE = wrapped(lambda: gym.make("CartPole-v1"))
PENDULUM = wrapped(lambda: gym.make("Pendulum-v1"))


def seen_as(make: Any, change: Any) -> Any:
    """The environment with every observation put through `change`."""

    def reset(self: Any, **options: Any) -> Any:
        observation, info = self.env.reset(**options)
        return change(observation), info

    def step(self: Any, action: Any) -> Any:
        observation, *rest = self.env.step(action)
        return change(observation), *rest

    return wrapped(make, reset=reset, step=step)


class Spiky(Drive):
    """One entry in 400 steps is a million times too large."""

    def look(self) -> Any:
        shown = self.state.copy()
        if self.random.random() < 1 / 400:
            shown[self.random.integers(4)] *= 1e6
        return shown.astype(np.float32)


class HeavyTailed(Drive):
    def look(self) -> Any:
        return (self.state + 0.1 * self.random.standard_t(3, 4)).astype(np.float32)


class Longer(Drive):
    """Twelve entries that are never filled."""

    fill = 0.0

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (16,), np.float32)

    def look(self) -> Any:
        return np.concatenate([self.state, np.full(12, self.fill)]).astype(np.float32)


class Flags(Longer):
    """The twelve entries are declared as flags."""

    def __init__(self) -> None:
        super().__init__()
        wide = np.full(4, np.inf, np.float32)
        low, high = np.concatenate([-wide, np.zeros(12)]), np.concatenate([wide, np.ones(12)])
        self.observation_space = gym.spaces.Box(low.astype(np.float32), high.astype(np.float32))


class Stale(gym.Wrapper):
    share = 0.5

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.draw = np.random.default_rng(seed)
        self.last, info = self.env.reset(seed=seed)
        return self.last, info

    def step(self, action: Any) -> Any:
        fresh, *rest = self.env.step(action)
        if self.draw.random() >= self.share:
            self.last = fresh
        return self.last, *rest


class Late(Drive):
    def step(self, action: Any) -> Any:
        self.t += 1
        shown = self.look()
        self.move(self.force(np.asarray(action, float)))
        return shown, self.pay(), False, self.truncated(), {}


class Mangled(gym.Wrapper):
    """Observations come from a memory of other steps."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.draw = np.random.default_rng(seed)
        return self.env.reset(seed=seed)

    def step(self, action: Any) -> Any:
        _, *rest = self.env.step(action)
        return self.draw.normal(size=4).astype(np.float32), *rest


class Noisy(Drive):
    def move(self, force: Any) -> None:
        super().move(force)
        self.state[2:] += 0.05 * self.random.normal(size=2)


class RandomPay(Drive):
    def pay(self) -> float:
        return float(self.random.normal())


class Walled(Grid):
    """One move out of one cell is blocked."""

    def step(self, action: Any) -> Any:
        before = self.cell
        answer = super().step(action)
        if (before, self.cell) == ((2, 2), (2, 3)):
            self.cell = before
            return self.look(), *answer[1:]
        return answer


class Delayed(Drive):
    """The second action entry acts three steps later."""

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.queue = [0.0] * 3
        return super().reset(seed)

    def force(self, action: Any) -> Any:
        self.queue.append(action[1])
        return np.array([action[0], self.queue.pop(0)])


class Scheduled(Table):
    """The action is never read."""

    def step(self, action: Any) -> Any:
        return super().step((self.t // 2) % 2)


class Unbounded(Drive):
    """A penalty on the squared change of an action without bounds."""

    def __init__(self) -> None:
        super().__init__()
        self.action_space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float32)

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.previous, self.jerk = np.zeros(2), 0.0
        return super().reset(seed)

    def force(self, action: Any) -> Any:
        self.jerk, self.previous = float(((action - self.previous) ** 2).sum()), action
        return np.clip(action, -1, 1)

    def pay(self) -> float:
        return super().pay() - self.jerk


class Capped(Unbounded):
    def pay(self) -> float:
        return super().pay() + self.jerk - min(self.jerk, 10.0)


class Swallowing(Drive):
    """One step in 50 fails and says nothing."""

    def step(self, action: Any) -> Any:
        if self.random.random() < 0.02:
            self.t += 1
            return self.look(), 0.0, False, self.truncated(), {}
        return super().step(action)


class CornerCrash(Drive):
    def force(self, action: Any) -> Any:
        if action[0] >= 1:
            raise ZeroDivisionError("division by zero")
        return action


class Jackpot(Drive):
    """One reward in 100 is a million times too large."""

    factor = 1e6

    def pay(self) -> float:
        return super().pay() * (self.factor if self.random.random() < 0.01 else 1.0)


class Bonus(Drive):
    def step(self, action: Any) -> Any:
        shown, reward, *rest = super().step(action)
        return shown, reward + 100 * bool(rest[0]), *rest


class Rescaled(gym.Wrapper):
    """Actions are doubled and then cut, in the wrong order."""

    gain = 2.0

    def step(self, action: Any) -> Any:
        return self.env.step(np.clip(self.gain * np.asarray(action, np.float32), -2, 2))


class NoOp(Grid):
    moves = ((0, 1), (1, 0), (0, -1), (-1, 0), (0, 0))


class Inverted(Drive):
    def __init__(self) -> None:
        super().__init__()
        low, high = np.array([-1, 1], np.float32), np.array([1, 1], np.float32)
        self.action_space = gym.spaces.Box(low, high, dtype=np.float32)


class Picture(Table):
    """An 8 x 8 x 3 image."""

    kind: Any = np.float32
    top = 255.0

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = gym.spaces.Box(0, 255, (8, 8, 3), self.kind)

    def look(self) -> Any:
        return self.random.uniform(0, self.top, (8, 8, 3)).astype(self.kind)


def timed(world: Any) -> Any:
    return np.append(world.state[:2], (100 - world.t) / 100).astype(np.float32)


def nan_after_50(world: Any) -> Any:
    return (np.full(3, np.nan) if world.t > 50 else world.state).astype(np.float32)


LIMIT_AS_END = changed(Table, ends=lambda w: (w.t >= 100, False))
