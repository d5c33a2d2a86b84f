"""A hard negative for what `World` measures: the policy is exchanged for an unrelated one, the environment stays.

    python benchmarks/live/policy_exchange.py [ENV ...]

No training does this; a monitor that stays quiet here does not take a policy that learns for a broken environment.
"""

from __future__ import annotations

import sys
from typing import Any

import gymnasium as gym
import numpy as np

from firstbreak.monitor.core import Monitor
from firstbreak.monitor.world import World, watched

ENVIRONMENTS = (
    "CartPole-v1", "Acrobot-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1", "FrozenLake-v1",
    "LunarLander-v3", "LunarLanderContinuous-v3", "BipedalWalker-v3", "Hopper-v5", "HalfCheetah-v5", "Walker2d-v5",
    "Swimmer-v5", "Reacher-v5", "InvertedDoublePendulum-v5",
)  # fmt: skip
STEPS, EXCHANGES = 2500, 4
RANDOM_FRAC, NOISE = 0.05, 0.1
"""Share of random actions, and spread of the noise on continuous ones: what explores."""


class Linear:
    """Acts by a random linear map of the observation [D]."""

    def __init__(self, space: Any, width: int, rng: np.random.Generator) -> None:
        self.space, self.rng, self.width = space, rng, width
        count = int(space.n) if isinstance(space, gym.spaces.Discrete) else int(space.shape[0])
        self.weights = rng.normal(size=(count, width))

    def __call__(self, obs: np.ndarray) -> Any:
        wanted = self.weights @ obs
        if isinstance(self.space, gym.spaces.Discrete):
            return int(np.argmax(wanted)) if self.rng.random() > RANDOM_FRAC else self.space.sample()
        noisy = wanted / np.sqrt(self.width) + NOISE * self.rng.normal(size=self.space.shape)
        return np.clip(noisy, self.space.low, self.space.high).astype(self.space.dtype)


def alarms_of(name: str) -> list[str]:
    """Play random actions, then one unrelated policy after the other; return what the monitor said."""
    monitor = Monitor(None, algorithm="PPO", clock="env_steps", time_share=float("inf"), now=lambda: 0.0)
    env = watched(gym.make(name), World(monitor))
    env.action_space.seed(0)
    rng = np.random.default_rng(1)
    width = int(np.prod(env.observation_space.shape or (1,)))
    obs, _ = env.reset(seed=0)
    for part in range(EXCHANGES + 1):
        policy = Linear(env.action_space, width, rng) if part else lambda _: env.action_space.sample()
        for _ in range(STEPS):
            obs, _, terminated, truncated, _ = env.step(policy(np.asarray(obs, dtype=np.float64).reshape(-1)))
            if terminated or truncated:
                obs, _ = env.reset()
    monitor.close()
    assert monitor.faults == [], monitor.faults
    return [f"{alarm.finding.name}@{alarm.at:.0f}" for alarm in monitor.alarms]


def main() -> None:
    names = sys.argv[1:] or ENVIRONMENTS
    total = 0
    for name in names:
        found = alarms_of(name)
        total += len(found)
        print(f"{name:28} {', '.join(found) or '-'}", flush=True)
    print(f"{total} alarms at {EXCHANGES * len(names)} exchanges of the policy in {len(names)} environments")


if __name__ == "__main__":
    main()
