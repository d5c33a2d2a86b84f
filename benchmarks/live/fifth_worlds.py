"""Environments of the fifth live campaign: what goes wrong in them, little by little, is written in fifth.toml."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from fifth_doses import doses
from fifth_tasks import STAY, made
from fourth_worlds import busy
from third_worlds import Altered, Shared
from worlds import Truth

from firstbreak.monitor.world import World, watched

BLUR = 6.0
"""Spread of the noise on observations in the end, in spreads of what was seen before the fault."""
LATE = 8
"""Steps by which actions are late in the end."""
BUSY_S = 0.002
"""Seconds of the processor that a step takes longer in the end."""
STAY_PAID = 5.0
"""What staying is paid besides in the end; the most that a step of `Follow` can earn is 1."""
FAULTS = (
    "channels-bleed", "sensor-blurs", "actuator-tires", "actions-later", "machine-behind", "stay-paid-more",
    "weight-turns",
)  # fmt: skip
"""Faults of the environment; all others are planted in the trainer."""


@dataclass
class Steps(Shared):
    """What all copies of an environment have in common."""

    seed: int = 0


class Creeping(Altered):
    """Keeps the truth as the third list does; passes everything on, changed by as much as the fault has grown to."""

    shared: Steps

    def __init__(self, env: gym.Env[Any, Any], truth: Truth, shared: Steps, number: int) -> None:
        super().__init__(env, truth, shared, number)
        self.dose, self.now = doses(truth, shared.total), 0.0
        self.chosen: deque[Any] = deque(maxlen=LATE + 1)
        self.generator = np.random.default_rng([shared.seed, number])
        self.spread: Any = None

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        fault, dose = self.truth.fault, self.dose()
        self.now = dose
        self.chosen.append(action)
        if fault == "actuator-tires":
            action = ((1 - dose) * np.asarray(action)).astype(np.float32)
        if fault == "machine-behind":
            busy(BUSY_S * dose)
        if fault in ("actions-later", "machine-behind"):
            action = self.chosen[-1 - min(round(LATE * dose), len(self.chosen) - 1)]
        return super().step(action)

    def seen(self, obs: Any) -> Any:
        """Return the observation as the trainer gets it."""
        fault, obs = self.truth.fault, super().seen(obs)
        if fault == "channels-bleed":
            return ((1 - self.now) * obs + self.now * np.roll(obs, 1)).astype(obs.dtype)
        if fault == "sensor-blurs":
            if self.spread is None:
                self.spread = np.std(self.memory, axis=0)
            noise = self.generator.normal(size=obs.shape)
            return (obs + BLUR * self.now * self.spread * noise).astype(obs.dtype)
        return obs

    def paid(self, reward: float, info: dict[str, Any]) -> float:
        """Return the reward as the trainer gets it."""
        fault, reward = self.truth.fault, super().paid(reward, info)
        if fault == "stay-paid-more":
            return reward + STAY_PAID * self.now * (int(self.chosen[-1]) == STAY)
        return reward * (1 - 2 * self.now) if fault == "weight-turns" else reward


def maker(name: str, truth: Truth, total: int, seed: int, world: World | None) -> Callable[[], gym.Env[Any, Any]]:
    """Return a factory of copies of `name` that share `truth`; the monitor's `world` sees what the trainer sees."""
    shared, count = Steps(total, seed=seed), [0]

    def make() -> gym.Env[Any, Any]:
        env = Creeping(made(name), truth, shared, count[0])
        count[0] += 1
        return env if world is None else watched(env, world)

    return make
