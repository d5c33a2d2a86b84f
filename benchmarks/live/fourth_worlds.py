"""Environments of the fourth live campaign: what goes wrong in them is written in fourth.toml."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from fourth_tasks import STAY, made
from third_worlds import Altered, Shared
from worlds import Truth

from firstbreak.monitor.world import World, watched

FINE = 0.3
"""What each step costs besides: three times what it earns in `Lanes`."""
PAUSE_EVERY, PAUSE_S = 400, 0.3
"""Steps of all copies between two pauses; seconds of the processor that one takes."""
FAULTS = ("actuator-dead", "copies-alike", "step-fined", "reward-of-neighbour", "pauses")
"""Faults of the environment; all others are planted in the trainer."""


@dataclass
class Common(Shared):
    """What all copies of an environment have in common, by mistake or not."""

    first: Any = None
    """What the first copy shows."""
    purse: float | None = None
    """The last reward that was earned, by whichever copy."""


class Broken(Altered):
    """Keeps the truth as the third list does; passes everything on, altered by the fault that is on."""

    shared: Common

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        fault = self.truth.fault
        if fault == "actuator-dead":
            action = STAY if isinstance(self.env.action_space, gym.spaces.Discrete) else np.zeros_like(action)
        if fault == "pauses" and self.truth.steps % PAUSE_EVERY == 0:
            busy(PAUSE_S)
        return super().step(action)

    def seen(self, obs: Any) -> Any:
        """Return the observation as the trainer gets it."""
        if self.number == 0:
            self.shared.first = np.array(obs)
        alike = self.truth.fault == "copies-alike" and self.shared.first is not None
        return np.array(self.shared.first) if alike else super().seen(obs)

    def paid(self, reward: float, info: dict[str, Any]) -> float:
        """Return the reward as the trainer gets it."""
        if self.truth.fault == "step-fined":
            return reward - FINE
        before = self.shared.purse
        self.shared.purse = reward
        return before if self.truth.fault == "reward-of-neighbour" and before is not None else reward


def busy(seconds: float) -> None:
    """Keep the processor busy."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def maker(name: str, truth: Truth, total: int, world: World | None) -> Callable[[], gym.Env[Any, Any]]:
    """Return a factory of copies of `name` that share `truth`; the monitor's `world` sees what the trainer sees.

    Without a world they are those that a policy is evaluated on, or of a user who has none.
    """
    shared, count = Common(total), [0]

    def make() -> gym.Env[Any, Any]:
        env = Broken(made(name), truth, shared, count[0])
        count[0] += 1
        return env if world is None else watched(env, world)

    return make
