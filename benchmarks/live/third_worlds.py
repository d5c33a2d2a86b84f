"""Environments of the third live campaign: what goes wrong in them is written in third.toml."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np
from third_tasks import made
from worlds import Truth

from firstbreak.monitor.world import World, watched

LAG, LATE = 4, 10
"""Steps that an observation, and a reward, come later."""
DRIFT_EVERY = 0.05
"""Share of a run in which a drifting sensor goes off by one standard deviation of its own."""
CLIP, CLOSER = 0.05, 0.3
REMEMBERED = 1000
FAULTS = (
    "sensor-lags", "sensor-drifts", "copy-hangs", "actions-crossed", "reset-left-out", "reward-late", "reward-clipped",
    "reward-summed", "closer-paid", "steps-slow",
)  # fmt: skip
"""Faults of the environment; all others are planted in the trainer."""


@dataclass
class Shared:
    """What all copies of an environment have in common, by mistake or not."""

    total: int
    """Environment steps of the run."""
    wire: Any = None
    """The last action that came in, whichever copy it was for."""
    history: list[Any] = field(default_factory=list)


class Altered(gym.Wrapper[Any, Any, Any, Any]):
    """Passes everything on, altered by the fault that is on. The truth is kept apart from what the trainer sees."""

    def __init__(self, env: gym.Env[Any, Any], truth: Truth, shared: Shared, number: int) -> None:
        super().__init__(env)
        self.truth, self.shared, self.number = truth, shared, number
        self.total = self.running = 0.0
        self.recent: deque[Any] = deque(maxlen=LAG + 1)
        self.unpaid: deque[float] = deque([0.0] * LATE, maxlen=LATE + 1)
        self.memory: deque[Any] = deque(maxlen=REMEMBERED)
        self.distance = 0.0
        self.shown: Any = None

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        self.total = self.running = 0.0
        if self.truth.fault == "reset-left-out" and self.shown is not None:
            return self.shown, {}
        obs, info = self.env.reset(**kwargs)
        self.distance = float(info.get("distance", 0.0))
        self.recent.clear()
        self.shown = self.seen(obs)
        return self.shown, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        fault = self.truth.fault
        if fault == "actions-crossed" and self.shared.wire is not None:
            action, self.shared.wire = self.shared.wire, action
        else:
            self.shared.wire = action
        self.truth.steps += 1
        if fault == "copy-hangs" and self.number == 0:
            return self.shown, 0.0, False, False, {}
        obs, reward, terminated, truncated, info = self.env.step(action)
        self.total += float(reward)
        paid = self.paid(float(reward), info)
        if terminated or truncated:
            self.truth.episodes.append((self.truth.steps, self.total))
        self.shown = self.seen(obs)
        if fault == "steps-slow":
            self.slowed(obs)
        return self.shown, paid, terminated, truncated, info

    def seen(self, obs: Any) -> Any:
        """Return the observation as the trainer gets it."""
        fault = self.truth.fault
        self.recent.append(obs)
        if not fault:
            self.memory.append(np.array(obs))
        if fault == "sensor-lags":
            return self.recent[0]
        if fault == "sensor-drifts":
            gone = (self.truth.steps - self.truth.began) / (DRIFT_EVERY * self.shared.total)
            obs = np.array(obs)
            obs[0] += gone * np.std(self.memory, axis=0)[0]
        return obs

    def paid(self, reward: float, info: dict[str, Any]) -> float:
        """Return the reward as the trainer gets it."""
        fault = self.truth.fault
        self.running += reward
        self.unpaid.append(reward)
        before, self.distance = self.distance, float(info.get("distance", 0.0))
        if fault == "reward-late":
            return self.unpaid[0]
        if fault == "reward-clipped":
            return min(max(reward, -CLIP), CLIP)
        if fault == "reward-summed":
            return self.running
        if fault == "closer-paid" and self.distance < before:
            return reward + CLOSER
        return reward

    def slowed(self, obs: Any) -> None:
        """Keep every observation, and average all of them anew, as a careless statistic does."""
        self.shared.history.append(np.array(obs))
        float(np.mean([one[0] for one in self.shared.history]))


def maker(name: str, truth: Truth, total: int, world: World | None) -> Callable[[], gym.Env[Any, Any]]:
    """Return a factory of copies of `name` that share `truth`; the monitor's `world` sees what the trainer sees.

    Without a world they are those that a policy is evaluated on.
    """
    shared, count = Shared(total), [0]

    def make() -> gym.Env[Any, Any]:
        env = Altered(made(name), truth, shared, count[0])
        count[0] += 1
        return env if world is None else watched(env, world)

    return make
