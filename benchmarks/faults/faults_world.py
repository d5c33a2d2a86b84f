"""Faults of the environment: what it shows, what it does with actions, where episodes end."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from benchmarks.faults.faulty_env import Change, Faulty, Stepped
from benchmarks.faults.planting import in_the_world

REPEATS, SKIPPED, SHORT_LIMIT, REMEMBERED = 0.9, 8, 12, 2000


@in_the_world("observation-repeated")
class Repeated(Change):
    """Old observation and reward, nine times in ten."""

    def __init__(self, env: Faulty) -> None:
        super().__init__(env)
        self.paid = 0.0

    def step(self, action: Any) -> Stepped:
        obs, reward, terminated, truncated, info = self.env.play(action)
        if self.env.last is not None and self.chance.random() < REPEATS:
            return self.env.last, self.paid, terminated, truncated, info
        self.paid = reward
        return obs, reward, terminated, truncated, info


class Remembering(Change):
    """Keeps what happened in this copy since the fault was switched on."""

    def __init__(self, env: Faulty) -> None:
        super().__init__(env)
        self.past: list[tuple[Any, float]] = []

    def drawn(self) -> tuple[Any, float]:
        """One step of the past."""
        return self.past[int(self.chance.integers(len(self.past)))]

    def step(self, action: Any) -> Stepped:
        obs, reward, terminated, truncated, info = self.env.play(action)
        if len(self.past) < REMEMBERED:
            self.past.append((obs, reward))
        else:
            self.past[int(self.chance.integers(REMEMBERED))] = (obs, reward)
        obs, reward = self.mixed()
        return obs, reward, terminated, truncated, info

    def mixed(self) -> tuple[Any, float]:
        """Observation and reward that the trainer gets."""
        return self.drawn()


@in_the_world("transition-random")
class RandomTransition(Remembering):
    """Both of one random step."""


@in_the_world("transition-mangled")
class Mangled(Remembering):
    """Each of another random step."""

    def mixed(self) -> tuple[Any, float]:
        return self.drawn()[0], self.drawn()[1]


@in_the_world("terminal-missing")
class TerminalMissing(Change):
    """The end is never told; only the time limit ends an episode."""

    def step(self, action: Any) -> Stepped:
        obs, reward, _, truncated, info = self.env.play(action)
        return obs, reward, False, truncated, info


@in_the_world("timeout-as-terminal")
class TimeoutAsTerminal(Change):
    """A time limit is told as the end of the task."""

    def step(self, action: Any) -> Stepped:
        obs, reward, terminated, truncated, info = self.env.play(action)
        return obs, reward, terminated or truncated, False, info


@in_the_world("reset-missing")
class ResetMissing(Change):
    """Reset hands out the last observation and leaves the world as it is."""

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        if self.env.last is None:  # the very first one has to be real
            return super().reset(**kwargs)
        self.env.open_books()
        return self.env.last, {}


@in_the_world("action-scale-dropped")
class ActionScaled(Change):
    """A tenth of the action."""

    def step(self, action: Any) -> Stepped:
        return super().step((0.1 * np.asarray(action)).astype(np.float32))


@in_the_world("action-swapped")
class ActionSwapped(Change):
    """The opposite of the action, in half of the episodes."""

    swaps = True

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        self.swaps = bool(self.chance.integers(2))
        return super().reset(**kwargs)

    def step(self, action: Any) -> Stepped:
        return super().step(opposite(self.env.action_space, action) if self.swaps else action)


def opposite(space: Any, action: Any) -> Any:
    """The action mirrored in the middle of its range."""
    if isinstance(space, gym.spaces.Discrete):
        return int(space.n) - 1 - int(action)
    return np.asarray(space.high + space.low - action, dtype=space.dtype)


@in_the_world("feature-x1000")
class FeatureScaled(Change):
    """The first feature times a thousand."""

    def see(self, obs: Any) -> Any:
        seen = np.array(obs)
        seen[0] *= 1000
        return seen


@in_the_world("observation-x100")
class ObservationScaled(Change):
    """All of the observation times a hundred."""

    def see(self, obs: Any) -> Any:
        return (100 * np.asarray(obs)).astype(obs.dtype)


@in_the_world("velocity-hidden")
class VelocityHidden(Change):
    """Every second feature is zero: of CartPole, the two speeds."""

    def see(self, obs: Any) -> Any:
        seen = np.array(obs)
        seen[1::2] = 0
        return seen


@in_the_world("observation-zero")
class ObservationZero(Change):
    """Nothing is seen."""

    def see(self, obs: Any) -> Any:
        return np.zeros_like(obs)


@in_the_world("observation-permuted")
class ObservationPermuted(Change):
    """Another order of the features in every episode."""

    order: Any = None

    def see(self, obs: Any) -> Any:
        if self.order is None:
            self.order = self.chance.permutation(len(obs))
        return np.asarray(obs)[self.order]

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        self.order = None
        return super().reset(**kwargs)


@in_the_world("frame-skip")
class FrameSkip(Change):
    """Eight true steps to each of the trainer's."""

    def step(self, action: Any) -> Stepped:
        total = 0.0
        for _ in range(SKIPPED):
            obs, reward, terminated, truncated, info = self.env.play(action)
            total += reward
            if terminated or truncated:
                break
        return obs, total, terminated, truncated, info


@in_the_world("time-limit-short")
class TimeLimitShort(Change):
    """Cut after twelve steps."""

    count = 0

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        self.count = 0
        return super().reset(**kwargs)

    def step(self, action: Any) -> Stepped:
        obs, reward, terminated, truncated, info = super().step(action)
        self.count += 1
        return obs, reward, terminated, truncated or (self.count >= SHORT_LIMIT and not terminated), info
