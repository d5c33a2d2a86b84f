"""Planted bugs of observations and rewards."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from gymnasium.spaces import Box

from .bases import Around, Drive, Grid, Step, Table, cartpole, pendulum
from .catalogue import planted


@planted("table-1-obs-nan-after-50")
class NanLate(Table):
    def seen(self) -> Any:
        return super().seen() if self.t <= 50 else np.full(3, np.nan, np.float32)


@planted("table-1-obs-nan-after-50", "twin")
class LargeLate(Table):
    def seen(self) -> Any:
        return super().seen() if self.t <= 50 else np.clip(super().seen() * 4, -10, 10)


@planted("table-2-constant-observation")
class Constant(Table):
    def seen(self) -> Any:
        return np.array([1, 2, 3], np.float32)


@planted("table-2-constant-observation", "twin")
class ConstantAtFirst(Table):
    def seen(self) -> Any:
        return np.array([1, 2, 3], np.float32) if self.t <= 10 else super().seen()


@planted("table-3-reward-1e12")
class Absurd(Table):
    def pays(self) -> Any:
        return super().pays() * 1e12


@planted("table-3-reward-1e12", "twin")
class TenTimes(Table):
    def pays(self) -> Any:
        return super().pays() * 10


@planted("table-4-reward-nan-from-1")
class RewardNan(Table):
    def pays(self) -> Any:
        return float("nan")


@planted("table-5-reward-inf-after-50")
class RewardInf(Table):
    def pays(self) -> Any:
        return super().pays() if self.t <= 50 else float("inf")


@planted("obs-one-outlier-spike")
class Spikes(Drive):
    def seen(self) -> Any:
        seen = super().seen()
        if self.np_random.random() < 1 / 400:
            seen[int(self.np_random.integers(4))] *= 1e6
        return seen


@planted("obs-one-outlier-spike", "twin")
class HeavyTails(Drive):
    def seen(self) -> Any:
        return (super().seen() + 0.01 * self.np_random.standard_t(3, 4)).astype(np.float32)


@planted("one-dead-dimension")
def one_dead() -> Any:
    class Dead(Around):
        def reset(self, **options: Any) -> Any:
            obs, info = super().reset(**options)
            return obs * np.array([1, 1, 1, 0], np.float32), info

        def changed(self, obs: Any, *rest: Any) -> Any:
            return obs * np.array([1, 1, 1, 0], np.float32), *rest

    return Dead(cartpole())


@planted("one-dead-dimension", "twin")
class Bias(Table):
    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(np.array([-10, -10, -10, 1], np.float32), np.array([10, 10, 10, 1], np.float32))

    def seen(self) -> Any:
        return np.append(super().seen(), np.float32(1))


@planted("twelve-dead-dimensions")
class TwelveDead(Drive):
    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(-np.inf, np.inf, (16,), np.float32)

    def seen(self) -> Any:
        return np.concatenate([super().seen(), np.zeros(12, np.float32)])


@planted("twelve-dead-dimensions", "twin")
class Goals(Drive):
    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(-np.inf, np.inf, (6,), np.float32)
        self.goal = np.zeros(2)

    def start(self) -> None:
        super().start()
        self.goal = self.np_random.uniform(-1, 1, 2)

    def seen(self) -> Any:
        return np.concatenate([super().seen(), self.goal]).astype(np.float32)

    def pays(self, action: Any) -> Any:
        return -float(np.linalg.norm(self.position - self.goal))


@planted("one-feature-times-1000")
class Millimetres(Drive):
    factor = 1000

    def seen(self) -> Any:
        return super().seen() * np.array([self.factor, 1, 1, 1], np.float32)


@planted("one-feature-times-1000", "twin")
class Decimetres(Millimetres):
    factor = 10


def masked(mask: list[float]) -> Any:
    class Masked(Around):
        def reset(self, **options: Any) -> Any:
            obs, info = super().reset(**options)
            return obs * np.array(mask, np.float32), info

        def changed(self, obs: Any, *rest: Any) -> Any:
            return obs * np.array(mask, np.float32), *rest

    return Masked(cartpole())


@planted("velocity-hidden")
def velocity_hidden() -> Any:
    return masked([1, 0, 1, 0])


@planted("velocity-hidden", "twin")
def velocity_in_other_units() -> Any:
    return masked([1, 0.1, 1, 0.1])


@planted("stale-observation")
def stale() -> Any:
    class Stale(Around):
        last: Any = None

        def reset(self, **options: Any) -> Any:
            obs, info = super().reset(**options)
            self.last = (obs, 0.0)
            return obs, info

        def changed(self, obs: Any, reward: Any, *rest: Any) -> Any:
            if self.env.unwrapped.np_random.random() < 0.5:
                return *self.last, *rest
            self.last = (obs, reward)
            return obs, reward, *rest

    return Stale(cartpole())


@planted("observation-one-step-late")
class Late(Drive):
    def step(self, action: Any) -> Step:
        before = self.seen()
        return before, *super().step(action)[1:]


def remembered(together: bool) -> Any:
    class Remembered(Around):
        def __init__(self) -> None:
            super().__init__(cartpole())
            self.memory: deque[tuple[Any, Any]] = deque(maxlen=500)

        def changed(self, obs: Any, reward: Any, *rest: Any) -> Any:
            self.memory.append((obs, reward))
            rng = self.env.unwrapped.np_random
            first = self.memory[int(rng.integers(len(self.memory)))]
            second = first if together else self.memory[int(rng.integers(len(self.memory)))]
            return first[0].copy(), second[1], *rest

    return Remembered()


@planted("mangled-transition")
def mangled() -> Any:
    return remembered(together=False)


@planted("random-transition-tuple")
def random_tuple() -> Any:
    return remembered(together=True)


@planted("mangled-transition", "twin")
class Noisy(Table):
    def step(self, action: Any) -> Step:
        answer = super().step(action)
        self.state = self.state + 0.25 * self.np_random.normal(size=3)
        return answer


@planted("stuck-state")
class Stuck(Grid):
    def goes(self, chosen: int) -> None:
        if tuple(self.cell) != (2, 2):
            super().goes(chosen)


@planted("stuck-state", "twin")
class Wall(Grid):
    def goes(self, chosen: int) -> None:
        before = self.cell.copy()
        super().goes(chosen)
        if tuple(before) == (2, 2) and chosen == 0:
            self.cell = before


@planted("reward-outlier-at-depth")
def reward_outlier() -> Any:
    class Outlier(Around):
        def changed(self, obs: Any, reward: Any, *rest: Any) -> Any:
            wild = self.t > 150 and self.env.unwrapped.np_random.random() < 1 / 50
            return obs, reward * 1e5 if wild else reward, *rest

    return Outlier(pendulum())


@planted("reward-outlier-at-depth", "twin")
def terminal_bonus() -> Any:
    class Bonus(Around):
        def changed(self, obs: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Step:
            return obs, reward * 100 if truncated else reward, terminated, truncated, info

    return Bonus(pendulum())


@planted("unbounded-action-squared")
class Squared(Drive):
    def __init__(self) -> None:
        super().__init__()
        self.action_space = Box(-np.inf, np.inf, (2,), np.float32)
        self.last = np.zeros(2)

    def start(self) -> None:
        super().start()
        self.last = np.zeros(2)

    def pays(self, action: Any) -> Any:
        change = np.asarray(action, np.float64) - self.last
        self.last = np.asarray(action, np.float64)
        return super().pays(action) - float(change @ change)


@planted("healthy-reward-while-unhealthy")
def paid_after_the_fall() -> Any:
    from gymnasium.envs.classic_control import CartPoleEnv

    class Late(CartPoleEnv):
        fallen = 0

        def reset(self, **options: Any) -> Any:
            self.fallen = 0
            return super().reset(**options)

        def step(self, action: Any) -> Any:
            obs, _, terminated, truncated, info = super().step(action)
            self.fallen += bool(terminated)
            self.steps_beyond_terminated = None
            return obs, 1.0, self.fallen > 50, truncated, info

    return Late()
