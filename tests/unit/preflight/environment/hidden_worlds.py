"""Worlds with a cause that one step does not show: goals, counters, agents left behind; and their harmless twins."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from tests.preflight.planted.vectors import Pair, pettingzoo
from tests.unit.preflight.environment.small_worlds import Drive


class ToGoal(Drive):
    """Drive whose reward is minus the distance to a goal that is drawn in reset; `shown` of it is observed."""

    shown = 2

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (4 + self.shown,), np.float32)
        self.goal = np.zeros(2)

    def reset(self, **options: Any) -> Any:
        observation, info = super().reset(**options)
        self.goal = self.random.uniform(-3.0, 3.0, 2)
        return self.with_goal(observation, self.goal), info

    def step(self, action: Any) -> Any:
        observation, _, *rest = super().step(action)
        return self.with_goal(observation, self.goal), self.pays(observation), *rest

    def with_goal(self, observation: Any, goal: Any) -> Any:
        return np.concatenate([observation, goal[: self.shown]]).astype(np.float32)

    def pays(self, observation: Any) -> float:
        return -float(np.square(observation[:2] - self.goal).sum())


class GoalUnseen(ToGoal):
    shown = 0


class OffsetUnseen(ToGoal):
    """Something unseen is added to every reward of an episode alike: it moves the return, no choice."""

    shown = 0

    def pays(self, observation: Any) -> float:
        return float(self.goal[0]) - float(np.square(observation[:2]).sum())


class GoalOfLastEpisode(ToGoal):
    """The observation of reset is built before the goal is drawn."""

    def reset(self, **options: Any) -> Any:
        before = self.goal
        observation, info = super().reset(**options)
        return self.with_goal(observation[:4], before), info


class FillerInReset(ToGoal):
    """Reset does not know the goal yet, and says so with zeros."""

    def reset(self, **options: Any) -> Any:
        observation, info = super().reset(**options)
        return self.with_goal(observation[:4], np.zeros(2)), info


class CountsOn(Drive):
    """The counter of the limit is set to 0 when an episode is over, not in reset."""

    count = 0

    def step(self, action: Any) -> Any:
        observation, reward, terminated, _, info = super().step(action)
        self.count += 1
        over = self.count >= 60
        self.count = 0 if over else self.count
        return observation, reward, terminated, over, info


class CountsAnew(CountsOn):
    """The same, and reset sets it to 0 as well."""

    def reset(self, **options: Any) -> Any:
        self.count = 0
        return super().reset(**options)


class LeftAlone(Pair):
    """The limit is told to the first agent only."""

    def step(self, actions: Any) -> Any:
        obs, rewards, terminated, truncated, infos = super().step(actions)
        truncated = {a: t and a == "left" for a, t in truncated.items()}
        self.agents = [a for a in obs if not (terminated[a] or truncated[a])]
        return obs, rewards, terminated, truncated, infos


class LeavesLater(Pair):
    """The second agent is cut twenty steps after the first."""

    def step(self, actions: Any) -> Any:
        obs, rewards, terminated, truncated, infos = super().step(actions)
        truncated = {a: t and (a == "left" or self.t >= self.limit + 20) for a, t in truncated.items()}
        self.agents = [a for a in obs if not (terminated[a] or truncated[a])]
        return obs, rewards, terminated, truncated, infos


def left_alone() -> Any:
    return pettingzoo(LeftAlone)


def leaves_later() -> Any:
    return pettingzoo(LeavesLater)


class Timed(Drive):
    """The step of the episode stands in the observation."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (5,), np.float32)

    def look(self) -> Any:
        return np.append(super().look(), np.float32(self.t))
