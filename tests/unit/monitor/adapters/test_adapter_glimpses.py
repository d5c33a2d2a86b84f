"""What real trainers show their policy within a rollout: on another scale in the middle of one, and as ever."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3.common.vec_env import DummyVecEnv

from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.monitor.glimpses import EVERY, SHIFT
from firstbreak.monitor.world import World, watched
from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.ppo import PPO, PPOConfig
from tests.unit.monitor.adapters import sb3_worlds as worlds
from tests.unit.monitor.adapters.answering import Answering

torch.set_num_threads(1)
ROLLOUT = 512
SMALL = {"hidden_sizes": (8,), "num_envs": 2}


class Divided(gym.ObservationWrapper):
    """Divides observations by 255 from a step of all copies on."""

    taken = 0
    at = 10**9

    def step(self, action):
        Divided.taken += 1
        return super().step(action)

    def observation(self, observation):
        return observation / np.float32(255 if Divided.taken > Divided.at else 1)


class Kept(Answering):
    """Keeps what stands beside the loop, too."""

    def beside(self, metrics, *, step):
        self.given.append((step, dict(metrics)))


def shifts(name: str, at: int) -> list[tuple[float, float]]:
    """Train for three rollouts and return steps and shifts of all rows."""
    Divided.taken, Divided.at = 0, at
    monitor = Kept(clock="env_steps")
    world = World(monitor, every_steps=10**9)

    def make():
        return Divided(watched(worlds.Line(), world))

    if name == "sb3":
        model = worlds.ppo(DummyVecEnv([make] * 2), n_steps=ROLLOUT // 2)
        model.learn(3 * ROLLOUT, callback=MonitorCallback(monitor, every_steps=ROLLOUT))
    else:
        trainer = {
            "ppo": lambda: PPO(make, config=PPOConfig(num_steps=ROLLOUT // 2, **SMALL)),
            "mmrkhs": lambda: MMRKHS(make, config=MMRKHSConfig(rollout_steps=ROLLOUT // 2, **SMALL)),
        }[name]()
        trainer.learn(3 * ROLLOUT, log_to(monitor, trainer))
    assert not monitor.faults
    return [(step, row[SHIFT]) for step, row in monitor.given if SHIFT in row]


@pytest.mark.parametrize("name", ["sb3", "ppo", "mmrkhs"])
def test_another_scale_is_told_within_the_rollout(name: str) -> None:
    at = 2 * ROLLOUT + 100
    told = [(step, shift) for step, shift in shifts(name, at) if at < step < 3 * ROLLOUT]
    assert len(told) == 2
    assert told[0][0] <= at + 2 * EVERY + 2
    assert told[0][1] > 0.5


@pytest.mark.parametrize("name", ["sb3", "ppo", "mmrkhs"])
def test_nothing_is_told_within_rollouts_that_are_as_ever(name: str) -> None:
    assert not [step for step, _ in shifts(name, 10**9) if step % ROLLOUT]
