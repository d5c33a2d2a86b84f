"""Tasks of the healthy draw, and what projects put around them: limits of time, noise, other scales, normalisers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import fifth_tasks
import fourth_tasks
import gymnasium as gym
import numpy as np
import sixth_tasks
import third_tasks
from worlds import Truth

from firstbreak.monitor.world import World, watched

OWN: dict[str, Any] = {**third_tasks.OWN, **fourth_tasks.OWN, **fifth_tasks.OWN, **sixth_tasks.OWN}
DISCRETE = (
    "CartPole-v1", "Acrobot-v1", "FrozenLake-v1", "Blackjack-v1", "LunarLander-v3", "MountainCar-v0", "Forage", "Lanes",
    "Stock", "Follow", "Descend",
)  # fmt: skip
CONTINUOUS = (
    "Pendulum-v1", "InvertedPendulum-v5", "Reacher-v5", "MountainCarContinuous-v0", "Swimmer-v5", "Tank", "Crane",
    "Escort", "Arm",
)  # fmt: skip
LIMITS = {
    "CartPole-v1": (200, 500), "Acrobot-v1": (200, 500), "LunarLander-v3": (300,), "MountainCar-v0": (200, 500),
    "Pendulum-v1": (50, 100, 200, 0), "InvertedPendulum-v5": (200, 1000), "Reacher-v5": (25, 50), "Swimmer-v5": (200,),
    "MountainCarContinuous-v0": (200, 400), "Blackjack-v1": (50,), "FrozenLake-v1": (50, 100),
}  # fmt: skip
"""Steps after which an episode is cut off; 0: never."""
SAME_LENGTH = (
    "Stock", "Follow", "Crane", "Escort", "Tank", "Pendulum-v1", "Reacher-v5", "Swimmer-v5",
)  # fmt: skip
"""Episodes end with time alone, so a constant taken from each reward changes nothing that can be learned."""
CHUNK = 200
"""Steps that count as an episode where none ever ends."""
NOISE = 0.3
"""Standard deviation of a noisy reward, in those of the reward itself."""
SHIFT = 2.0
"""What is taken from each reward, in standard deviations of it."""


@dataclass(frozen=True)
class Around:
    """What is put around a task."""

    limit: int = 0
    """Steps of an episode; 0: the task's own, and of Pendulum none."""
    reward: str = "plain"
    """plain, noisy, shifted, x0.1, x10, or at-end: the sum is paid with the last step."""


class Told(gym.Wrapper[Any, Any, Any, Any]):
    """Keeps the true return of every episode, and pays as `Around` has it."""

    def __init__(self, env: Any, truth: Truth, reward: str, seed: int, endless: bool = False) -> None:
        super().__init__(env)
        self.truth, self.reward, self.endless = truth, reward, endless
        self.generator = np.random.default_rng(seed)
        self.total, self.count = 0.0, 0
        self.known, self.mean, self.squares = 0, 0.0, 0.0

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        self.total, self.count = 0.0, 0
        return self.env.reset(**kwargs)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        obs, reward, terminated, truncated, info = self.env.step(action)
        self.truth.steps += 1
        self.total, self.count = self.total + float(reward), self.count + 1
        over = bool(terminated or truncated)
        paid = self.paid(float(reward), over)
        if over or (self.endless and self.count == CHUNK):
            self.truth.episodes.append((self.truth.steps, self.total))
            self.total, self.count = 0.0, 0
        return obs, paid, bool(terminated), bool(truncated), info

    def paid(self, reward: float, over: bool) -> float:
        """Return the reward that the trainer gets."""
        if self.reward == "at-end":
            return self.total if over else 0.0
        if self.reward.startswith("x"):
            return float(self.reward[1:]) * reward
        if self.reward == "plain":
            return reward
        # Welford 1962: how rewards scatter is known after the first few hundred steps.
        self.known += 1
        off = reward - self.mean
        self.mean += off / self.known
        self.squares += off * (reward - self.mean)
        spread = float(np.sqrt(self.squares / self.known)) if self.known > 1 else 1.0
        return reward - SHIFT if self.reward == "shifted" else reward + NOISE * spread * float(self.generator.normal())


def endless(name: str, around: Around) -> bool:
    """Whether no episode of it ends."""
    return name not in OWN and around.limit == 0


def made(name: str, around: Around) -> gym.Env[Any, Any]:
    """Return a task with its limit of time; observations that are no vector become one."""
    if name in OWN:
        return OWN[name]()
    env: Any = gym.make(name, max_episode_steps=-1 if endless(name, around) else around.limit)
    if isinstance(env.observation_space, gym.spaces.Box):
        return env
    # Whole numbers would be kept as such in a rollout, whatever a normaliser makes of them.
    return gym.wrappers.DtypeObservation(gym.wrappers.FlattenObservation(env), np.float32)


def maker(
    name: str, around: Around, truth: Truth, seed: int, world: World | None
) -> Callable[[], gym.Env[Any, Any]]:  # fmt: skip
    """Return a factory of copies of a task that share `truth`; the monitor's `world` is innermost, if there is one."""
    count = [0]

    def make() -> gym.Env[Any, Any]:
        count[0] += 1
        env: Any = Told(made(name, around), truth, around.reward, 1000 * seed + count[0], endless(name, around))
        return env if world is None else watched(env, world)

    return make
