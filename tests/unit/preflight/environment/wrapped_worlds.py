"""Environments in wrappers that real trainers use, sound and not."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from tests.unit.preflight.environment.small_worlds import Drive

PENDULUM = "Pendulum-v1"


def normalised() -> Any:
    return gym.wrappers.NormalizeReward(gym.wrappers.NormalizeObservation(gym.make(PENDULUM)))


class KeepsVelocity(Drive):
    """A leak inside a sound wrapper."""

    def reset(self, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        before = getattr(self, "state", np.zeros(4))[2:].copy()
        super().reset(seed)
        self.state[2:] = before
        return self.look(), {}


def leak_inside() -> Any:
    return gym.wrappers.NormalizeObservation(KeepsVelocity())


def limit_outside() -> Any:
    inner = gym.make(PENDULUM).unwrapped
    return gym.wrappers.TimeLimit(gym.wrappers.RecordEpisodeStatistics(inner), 60)


def limit_inside() -> Any:
    inner = gym.make(PENDULUM).unwrapped
    return gym.wrappers.RecordEpisodeStatistics(gym.wrappers.TimeLimit(inner, 60))


def clipped_unbounded() -> Any:
    return gym.wrappers.ClipAction(gym.make(PENDULUM))


class Rounds(Drive):
    """Its state is float32, so that numpy rounds a Python integer and a numpy integer differently."""

    limit = 60

    def __init__(self) -> None:
        super().__init__()
        self.action_space = gym.spaces.Discrete(3)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self.t += 1
        at = self.state.astype(np.float32)
        self.state = (0.95 * at + 0.1 * (action - 1) * np.array([1, 0.5, -0.3, 0.2], np.float32)).astype(np.float32)
        return self.look(), self.pay(), False, self.truncated(), {}


class BothFlags(Drive):
    """The time limit sets both flags."""

    limit = 60

    def terminated(self, near: bool) -> bool:
        return near or self.t >= self.limit


class OneSeed(Drive):
    """reset puts its own seed in the place of the one given."""

    def reset(self, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        gym.Env.reset(self, seed=42)
        return super().reset(int(self.np_random.integers(1000)))


class EndsAtOnce(Drive):
    def terminated(self, near: bool) -> bool:
        return True


class Bandit(Drive):
    """One question, one answer, and the question comes back with the end."""

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        return self.look(), float(np.sum(action)), True, False, {}


class Blank(Drive):
    """Failures end the episode with zeros."""

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        try:
            if abs(action[0]) > 0.9:
                raise RuntimeError("joint limit")
            return super().step(action)
        except RuntimeError:
            return np.zeros(4, np.float32), 0.0, True, False, {}
