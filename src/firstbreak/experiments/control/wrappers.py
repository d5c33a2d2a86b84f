"""Wrappers around the task of a training. Imported only where an environment is made: this module needs Gymnasium."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, cast

import gymnasium
import numpy as np

from .watch import Watch

REWARDS = ("own", "constant", "random", "reversed")


class Watched(gymnasium.Wrapper[Any, Any, Any, Any]):
    """The outermost wrapper: tells a `Watch` of everything that the trainer does."""

    def __init__(self, env: Any, watch: Watch) -> None:
        super().__init__(env)
        self.watch = watch

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.watch.begin(observation)
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take one step."""
        found = self.env.step(action)
        self.watch.note(action, float(found[1]))
        return found


class Paid(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Pays another reward: `constant` 0, `random` noise with mean 0 and spread `sd`, or `reversed`."""

    def __init__(self, env: Any, kind: str, sd: float, seed: int) -> None:
        super().__init__(env)
        self.kind, self.sd = kind, sd
        self.noise = np.random.default_rng(seed)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one step."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, self._paid(float(cast(Any, reward))), terminated, truncated, info

    def _paid(self, reward: float) -> float:
        if self.kind == "constant":
            return 0.0
        return float(self.noise.normal(0.0, self.sd)) if self.kind == "random" else -reward


class Fixed(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Shifts and scales observations by numbers [D] that never change."""

    def __init__(self, env: Any, mean: np.ndarray, sd: np.ndarray) -> None:
        super().__init__(env)
        self.mean, self.sd = mean, sd
        width = env.observation_space.shape
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, width, np.float32)

    def observation(self, observation: Any) -> Any:
        """Return the observation on a unit scale."""
        return ((np.asarray(observation, float) - self.mean) / self.sd).astype(np.float32)


def normalisers(env: Any) -> list[Any]:
    """Return the wrappers of `env` that normalise observations by statistics that move."""
    found: list[Any] = []
    while env is not None:
        if hasattr(env, "obs_rms") and hasattr(env, "update_running_mean"):
            found.append(env)
        env = getattr(env, "env", None)
    return found


def share_statistics(trained: Sequence[Any], env: Any) -> Any:
    """Give the normalisers of `env` the statistics of those of a training's copy, and stop them; return `env`."""
    theirs = [one for copy in trained for one in normalisers(copy)]
    for mine, other in zip(normalisers(env), theirs, strict=False):
        mine.obs_rms = deepcopy(other.obs_rms)
        mine.update_running_mean = False
    return env
