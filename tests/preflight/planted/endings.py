"""Planted bugs of how episodes end."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.classic_control import CartPoleEnv
from gymnasium.envs.registration import EnvSpec
from gymnasium.spaces import Box, Discrete

from .bases import Around, Grid, Step, Table, cartpole, pendulum
from .catalogue import planted


@planted("table-6-time-limit-as-terminated")
class LimitAsEnd(Table):
    def ends(self) -> Any:
        return self.t >= self.limit, False


@planted("table-6-time-limit-as-terminated", "twin")
class ClockSeen(LimitAsEnd):
    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Box(-10, 10, (4,), np.float32)

    def seen(self) -> Any:
        return np.append(super().seen(), np.float32(1 - self.t / self.limit))


@planted("table-7-never-ends")
class NeverEnds(Table):
    def ends(self) -> Any:
        return False, False


@planted("table-7-never-ends", "twin")
class LongLimit(Table):
    limit = 1000


class NoFall(CartPoleEnv):
    """CartPole in which the pole may fall as far as it likes."""

    def step(self, action: Any) -> Any:
        obs, _, _, _, info = super().step(action)
        self.steps_beyond_terminated = None
        return np.clip(obs, -1e3, 1e3), 1.0, False, False, info


@planted("terminated-never-set")
def never_terminated() -> Any:
    from gymnasium.wrappers import TimeLimit

    env = NoFall()
    env.observation_space = Box(-np.inf, np.inf, (4,), np.float32)
    return TimeLimit(env, 500)


@planted("terminated-never-set", "twin")
def pendulum_as_it_is() -> Any:
    return pendulum()


@planted("truncated-merged-into-done")
def merged() -> Any:
    class Merged(Around):
        def changed(self, obs: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Step:
            return obs, reward, terminated or truncated, False, info

    return Merged(pendulum())


@planted("length-one-episodes")
def length_one() -> Any:
    class One(Around):
        def changed(self, obs: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Step:
            return obs, reward, True, False, info

    return One(cartpole())


class Bandit(gym.Env[Any, Any]):
    """One step, two arms."""

    def __init__(self) -> None:
        self.observation_space, self.action_space = Box(0, 1, (1,), np.float32), Discrete(2)
        self.spec = EnvSpec("Bandit-v0", max_episode_steps=1)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return self.np_random.random(1).astype(np.float32), {}

    def step(self, action: Any) -> Step:
        return np.zeros(1, np.float32), float(action), True, False, {}


@planted("length-one-episodes", "twin")
def bandit() -> Any:
    return Bandit()


@planted("limit-skipped-by-counter")
def limit_skipped() -> Any:
    class Skips(Grid):
        def ends(self, at_goal: bool) -> Any:
            self.t += 2
            return at_goal, self.t == self.limit

    env = Skips()
    env.spec = EnvSpec("Skips-v0", max_episode_steps=100)
    return env


@planted("both-flags-after-goal")
class GoalAsLimit(Grid):
    def ends(self, at_goal: bool) -> Any:
        return False, at_goal or self.t >= self.limit


@planted("autoreset-inside-single-env")
def resets_itself() -> Any:
    class Resets(Around):
        def changed(self, obs: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Step:
            if terminated or truncated:
                obs, _ = self.env.reset()
            return obs, reward, terminated, truncated, info

    return Resets(cartpole())


class Repeat(gym.Wrapper[Any, Any, Any, Any]):
    """Repeats each action four times."""

    stops = False

    def step(self, action: Any) -> Step:
        total = 0.0
        for _ in range(4):
            obs, reward, terminated, truncated, info = self.env.step(action)
            total += float(reward)
            if self.stops and (terminated or truncated):
                break
        return obs, total, terminated, truncated, info


@planted("repeat-ignores-end")
def repeat_ignores_end() -> Any:
    class Lenient(gym.Wrapper[Any, Any, Any, Any]):
        """A simulator that starts over when stepped past the end, as game engines do."""

        over = False

        def reset(self, **options: Any) -> Any:
            self.over = False
            return self.env.reset(**options)

        def step(self, action: Any) -> Step:
            if self.over:
                self.env.reset()
            obs, reward, terminated, truncated, info = self.env.step(action)
            self.over = bool(terminated or truncated)
            return obs, reward, terminated, truncated, info

    return Repeat(Lenient(cartpole()))


@planted("repeat-ignores-end", "twin")
def repeat_stops() -> Any:
    env = Repeat(cartpole())
    env.stops = True
    return env
