"""The witness of `action-scale-dropped` on Reach: a mass that is pushed by a weak motor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from stable_baselines3 import SAC
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.monitor import Monitor as Statistics
from stable_baselines3.common.vec_env import DummyVecEnv

from benchmarks.faults.catalogue import Task
from benchmarks.faults.guarding import Guarded
from benchmarks.faults.recording import Recording
from benchmarks.faults.sb3 import ROWS, Rows
from benchmarks.faults.witnesses.witness import Witness
from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.monitor.world import watched
from firstbreak.trainers.ppo import PPO, PPOConfig

STRENGTH, STEPS = 0.1, 50


class WeakReach(gym.Env[Any, Any]):
    """A heavy mass on a plane, whose motor moves it a hundredth of a length at most in the first step.

    It is to come near the goal and to spend little effort; effort is what the motor gives, not what it is asked for.
    """

    metadata: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-4.0, 4.0, (6,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (2,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place = self.np_random.uniform(-1, 1, 2)
        self.goal = self.np_random.uniform(-1, 1, 2)
        self.speed, self.count = np.zeros(2), 0
        return self.seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        force = (STRENGTH * np.asarray(action)).astype(np.float32).astype(float)
        self.speed = 0.7 * self.speed + 0.1 * force
        self.place = np.clip(self.place + self.speed, -2, 2)
        self.count += 1
        reward = -float(np.linalg.norm(self.goal - self.place)) - 0.05 * float(force @ force)
        return self.seen(), reward, False, self.count >= STEPS, {}

    def seen(self) -> Any:
        """The way to the goal, the speed, the place."""
        return np.concatenate([self.goal - self.place, self.speed, self.place]).astype(np.float32)


def train_ppo(task: Task, seed: int, recording: Recording) -> None:
    """The reference PPO on it."""
    with Guarded(recording, "PPO", "", "env_steps") as guard:
        trainer = PPO(lambda: watched(WeakReach(), guard.world), seed=seed, config=PPOConfig(**task.settings))
        tell = log_to(guard.monitor, trainer)

        def on_row(metrics: Mapping[str, Any], step: int) -> None:
            tell(metrics, step)
            recording.log(metrics, step)

        trainer.learn(task.total, on_row)


def train_sac(task: Task, seed: int, recording: Recording) -> None:
    """The SAC of Stable-Baselines3 on it."""
    with Guarded(recording, "", "", "env_steps") as guard:
        env = DummyVecEnv([lambda: Statistics(watched(WeakReach(), guard.world))])
        model = SAC("MlpPolicy", env, seed=seed, device="cpu", verbose=0, **task.settings)
        model.set_logger(Logger(folder=None, output_formats=[Rows(recording)]))
        watching = MonitorCallback(guard.monitor, every_steps=max(1, task.total // ROWS))
        model.learn(task.total, callback=[watching], log_interval=task.options["log_interval"])


MEANT = "The motor is that weak: the way to the goal is to be learned with it."
WITNESSES = (
    Witness("action-scale-dropped", "ppo", "Reach", MEANT, train_ppo),
    Witness("action-scale-dropped", "sb3_sac", "Reach", MEANT, train_sac),
)
