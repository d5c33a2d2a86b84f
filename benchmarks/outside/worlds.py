"""The tasks, what may go wrong in them, and the layer that keeps the true return."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

from benchmarks.outside.switches import Planted, Truth

SIDE, GRID_STEPS = 5, 40
DELAY = 15
"""Steps by which `reward-delayed` is late."""
FALSE_END = 0.04
"""Chance a step that `episodes-cut` ends the episode."""
Stepped = tuple[Any, float, bool, bool, dict[str, Any]]


class Grid(gym.Env[Any, Any]):
    """A walker in a square room looks for the goal in a corner; 1 is paid there and nothing before."""

    metadata: ClassVar[dict[str, Any]] = {}

    def __init__(self, far: bool = False, luck: bool = False) -> None:
        self.observation_space = gym.spaces.Box(0.0, 1.0, (SIDE * SIDE,), np.float32)
        self.action_space = gym.spaces.Discrete(4)
        self.far, self.luck = far, luck

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        reach = 1 if self.far else SIDE - 1
        self.place, self.count = self.np_random.integers(0, reach, 2), 0
        return self.seen(), {}

    def step(self, action: Any) -> Stepped:
        move = ((0, 1), (1, 0), (0, -1), (-1, 0))[int(action)]
        self.place = np.clip(self.place + np.array(move), 0, SIDE - 1)
        self.count += 1
        there = bool((self.place == SIDE - 1).all())
        paid = float(self.np_random.choice([0.0, 2.0])) if self.luck else 1.0
        return self.seen(), (paid if there else 0.0) - 0.01, there, not there and self.count >= GRID_STEPS, {}

    def seen(self) -> Any:
        board = np.zeros((SIDE, SIDE), np.float32)
        board[self.place[0], self.place[1]] = 1.0
        return board.reshape(-1)


class Kept(gym.Wrapper[Any, Any, Any, Any]):
    """Next to the task itself: counts its steps and adds up what it really paid."""

    def __init__(self, env: gym.Env[Any, Any], truth: Truth) -> None:
        super().__init__(env)
        self.truth, self.total, self.length = truth, 0.0, 0

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        self.close_episode()  # one that something further out has cut
        return self.env.reset(**kwargs)

    def close_episode(self) -> None:
        if self.length:
            self.truth.episodes.append((self.truth.steps, self.total))
        self.total, self.length = 0.0, 0

    def step(self, action: Any) -> Stepped:
        obs, reward, terminated, truncated, info = self.env.step(action)
        self.truth.steps += 1
        self.total, self.length = self.total + float(reward), self.length + 1
        if terminated or truncated:
            self.close_episode()
        return obs, float(reward), terminated, truncated, info


class Between(gym.Wrapper[Any, Any, Any, Any]):
    """Between task and trainer: what a wrapper of the user's own gets wrong once it is switched on."""

    def __init__(self, env: gym.Env[Any, Any], planted: Planted, seed: int) -> None:
        super().__init__(env)
        self.planted = planted
        self.chance = np.random.default_rng([seed, 77])
        self.owed: deque[float] = deque([0.0] * DELAY, DELAY)
        self.last: Any = None

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        obs, info = self.env.reset(**kwargs)
        self.owed = deque([0.0] * DELAY, DELAY)
        return self.see(obs), info

    def step(self, action: Any) -> Stepped:
        on = self.planted.on
        if on("action-scale-lost"):
            action = np.asarray(action) * 0.1
        if on("actuator-reversed"):
            action = -np.asarray(action)
        obs, reward, terminated, truncated, info = self.env.step(action)
        if on("episodes-cut") and self.chance.random() < FALSE_END:
            terminated = True
        if on("time-limit-as-terminal") and truncated:
            terminated, truncated = True, False
        return self.see(obs), self.pay(float(reward)), terminated, truncated, info

    def see(self, obs: Any) -> Any:
        """Return the observation as it reaches the trainer."""
        on = self.planted.on
        if on("sensor-stuck") and self.last is not None:
            obs = np.array(obs, np.float32)
            obs[-2:] = self.last[-2:]
        elif on("observation-in-other-units"):
            obs = np.asarray(obs, np.float32) * 255
        else:
            self.last = np.array(obs, np.float32)
        return obs

    def pay(self, reward: float) -> float:
        """Return the reward as it reaches the trainer."""
        on = self.planted.on
        if on("reward-delayed"):
            late = self.owed.popleft()
            self.owed.append(reward)
            return late
        if on("reward-x1000"):
            return 1000 * reward
        if on("cost-as-reward"):
            return -reward
        if on("reward-sign-only"):
            return float(np.sign(reward))
        if on("reward-gone"):
            return 0.0
        if on("reward-nan"):
            return float("nan") if self.chance.random() < 0.005 else reward
        return reward


def bare(name: str, options: dict[str, Any], truth: Truth) -> gym.Env[Any, Any]:
    """Return a task with its time limit; `options` are variations that are meant."""
    if name == "Grid":
        return Grid(far=bool(options.get("far")), luck=bool(options.get("luck")))
    env: gym.Env[Any, Any] = gym.make(name, max_episode_steps=options.get("max_episode_steps"))
    if shift := options.get("harder_at"):
        env = Harder(env, truth, int(shift))
    if chance := options.get("sticky"):
        env = Sticky(env, float(chance))
    return env


class Harder(gym.Wrapper[Any, Any, Any, Any]):
    """From a planned step on CartPole's pole is twice as long and its push weaker: a curriculum."""

    def __init__(self, env: gym.Env[Any, Any], truth: Truth, at: int) -> None:
        super().__init__(env)
        self.truth, self.at = truth, at

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        if self.truth.steps >= self.at:
            task: Any = self.env.unwrapped
            task.force_mag, task.length = 6.0, 0.8
            task.polemass_length = task.masspole * task.length
        return self.env.reset(**kwargs)


class Sticky(gym.Wrapper[Any, Any, Any, Any]):
    """With some chance the last action is played again: noise of the task, by design (Machado et al. 2018)."""

    def __init__(self, env: gym.Env[Any, Any], chance: float) -> None:
        super().__init__(env)
        self.share, self.before, self.chance = chance, None, np.random.default_rng(5)

    def step(self, action: Any) -> Stepped:
        if self.before is not None and self.chance.random() < self.share:
            action = self.before
        self.before = action
        return self.env.step(action)


def maker(name: str, options: dict[str, Any], planted: Planted, seed: int) -> Callable[[], gym.Env[Any, Any]]:
    """Return what makes one copy of the task, as the trainer meets it."""

    def make() -> gym.Env[Any, Any]:
        env = Between(Kept(bare(name, options, planted.truth), planted.truth), planted, seed)
        env.action_space.seed(seed)
        return env

    return make
