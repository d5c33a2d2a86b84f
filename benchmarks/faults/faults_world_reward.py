"""Faults of the reward that an environment pays. The true reward is kept apart and never changed."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import numpy as np

from benchmarks.faults.faulty_env import Change, Faulty, Stepped
from benchmarks.faults.planting import in_the_world

NOISE, LATE, BOUND, NAN_EVERY, WAIT_S, POTENTIAL = 30.0, 20, 0.05, 200, 0.003, 300.0
SPREAD = {"CartPole-v1": 1.0, "Pendulum-v1": 3.0, "Catch": 0.4, "Acrobot-v1": 0.3}
"""About the spread of one reward; CartPole's is constant, so its size. 0.5 elsewhere."""


@in_the_world("reward-x1000")
class Scaled(Change):
    """A thousand times."""

    def pay(self, reward: float) -> float:
        return 1000 * reward


@in_the_world("reward-flipped")
class Flipped(Change):
    """The other sign."""

    def pay(self, reward: float) -> float:
        return -reward


@in_the_world("reward-constant")
class Constant(Change):
    """Always one."""

    def pay(self, reward: float) -> float:
        return 1.0


@in_the_world("reward-clipped")
class Clipped(Change):
    """Held within the bound."""

    def pay(self, reward: float) -> float:
        return float(np.clip(reward, -BOUND, BOUND))


@in_the_world("reward-nan")
class NotANumber(Change):
    """One in two hundred is NaN."""

    def pay(self, reward: float) -> float:
        return float("nan") if self.chance.integers(NAN_EVERY) == 0 else reward


@in_the_world("reward-noise")
class Noisy(Change):
    """Normal noise on top."""

    def pay(self, reward: float) -> float:
        spec = self.env.unwrapped.spec
        spread = SPREAD.get(spec.id if spec else type(self.env.unwrapped).__name__, 0.5)
        return reward + NOISE * spread * float(self.chance.normal())


@in_the_world("reward-at-end")
class AtEnd(Change):
    """Nothing, and at the end everything."""

    owed = 0.0

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        self.owed = 0.0
        return super().reset(**kwargs)

    def step(self, action: Any) -> Stepped:
        obs, reward, terminated, truncated, info = self.env.play(action)
        self.owed += reward
        return obs, self.owed if terminated or truncated else 0.0, terminated, truncated, info


@in_the_world("reward-delayed")
class Delayed(Change):
    """Twenty steps late."""

    def __init__(self, env: Faulty) -> None:
        super().__init__(env)
        self.coming: deque[float] = deque([0.0] * LATE)

    def pay(self, reward: float) -> float:
        self.coming.append(reward)
        return self.coming.popleft()


@in_the_world("reward-term-flipped")
class TermFlipped(Change):
    """The distance counts for, not against."""

    def step(self, action: Any) -> Stepped:
        obs, reward, terminated, truncated, info = self.env.play(action)
        return obs, reward - 2 * info["terms"]["distance"], terminated, truncated, info


@in_the_world("shaping-paid-at-end")
class ShapingPaid(Change):
    """CartPole: the potential is the pole's angle, and is not taken back where the pole has tipped over."""

    before = 0.0

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        obs, info = super().reset(**kwargs)
        self.before = POTENTIAL * abs(float(obs[2]))
        return obs, info

    def step(self, action: Any) -> Stepped:
        obs, reward, terminated, truncated, info = self.env.play(action)
        now = POTENTIAL * abs(float(obs[2]))
        shaped = reward + now - self.before
        self.before = now
        return obs, shaped, terminated, truncated, info


@in_the_world("loop-pays")
class LoopPays(Change):
    """One for each change of sign of the first action."""

    sign = 0.0

    def step(self, action: Any) -> Stepped:
        sign = float(np.sign(np.asarray(action).reshape(-1)[0]))
        turned, self.sign = sign * self.sign < 0, sign
        obs, reward, terminated, truncated, info = self.env.play(action)
        return obs, reward + float(turned), terminated, truncated, info


@in_the_world("worker-slow")
class WorkerSlow(Change):
    """The first copy waits. It costs no score, only time."""

    def step(self, action: Any) -> Stepped:
        if self.env.number == 1:
            time.sleep(WAIT_S)
        return super().step(action)
