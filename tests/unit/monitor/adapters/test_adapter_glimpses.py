"""What real trainers show their policy within a rollout: on another scale in the middle of one, lost, and as ever."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3.common.vec_env import DummyVecEnv

from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.monitor.exchange.glimpses import EVERY, FIT, LOST, SHIFT
from firstbreak.monitor.world import World, watched
from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.ppo import PPO, PPOConfig
from tests.unit.monitor.adapters import sb3_worlds as worlds
from tests.unit.monitor.adapters import torchrl_worlds as collecting
from tests.unit.monitor.adapters.answering import Answering

torch.set_num_threads(1)
ROLLOUT, ROLLOUTS = 512, 4
LATE = 3 * ROLLOUT + 100
SMALL = {"hidden_sizes": (8,), "num_envs": 2}


CHANCE = np.random.default_rng(0)


def divided(observation):
    return observation / np.float32(255)


def drawn(observation):
    return CHANCE.normal(size=observation.shape).astype(np.float32)


def cut(observation):
    return observation.clip(-0.3, 0.3)


class Changed(gym.ObservationWrapper):
    """Changes observations from a step of all copies on."""

    taken = 0
    at = 10**9
    how = staticmethod(divided)

    def step(self, action):
        Changed.taken += 1
        return super().step(action)

    def observation(self, observation):
        return Changed.how(observation) if Changed.taken > Changed.at else observation


class Kept(Answering):
    """Keeps what stands beside the loop, too."""

    def beside(self, metrics, *, step):
        self.given.append((step, dict(metrics)))


def told(name: str, at: int, metric: str = SHIFT, how=divided) -> list[tuple[float, float]]:
    """Train for some rollouts; return the steps within them of rows with a metric, and its values."""
    Changed.taken, Changed.at, Changed.how = 0, at, staticmethod(how)
    monitor = Kept(clock="env_steps")
    world = World(monitor, every_steps=10**9)

    def make():
        return Changed(watched(worlds.Line(), world))

    if name == "sb3":
        model = worlds.ppo(DummyVecEnv([make] * 2), n_steps=ROLLOUT // 2)
        model.learn(ROLLOUTS * ROLLOUT, callback=MonitorCallback(monitor, every_steps=ROLLOUT))
    elif name == "torchrl":
        from firstbreak.monitor.adapters.torchrl import MonitorHook  # TorchRL warns where the worlds do not import it

        hook = MonitorHook(monitor)
        collecting.ppo(ROLLOUTS * ROLLOUT, hook, world=world, around=Changed, copies=2, per_batch=ROLLOUT)
    else:
        trainer = {
            "ppo": lambda: PPO(make, config=PPOConfig(num_steps=ROLLOUT // 2, **SMALL)),
            "mmrkhs": lambda: MMRKHS(make, config=MMRKHSConfig(rollout_steps=ROLLOUT // 2, **SMALL)),
        }[name]()
        trainer.learn(ROLLOUTS * ROLLOUT, log_to(monitor, trainer))
    assert not monitor.faults
    return [(step, row[metric]) for step, row in monitor.given if metric in row and step % ROLLOUT]


TRAINERS = pytest.mark.parametrize("name", ["sb3", "ppo", "mmrkhs", "torchrl"])


@TRAINERS
def test_another_scale_is_told_within_the_rollout(name: str) -> None:
    at = LATE
    found = told(name, at)
    assert len(found) == 2
    assert at < found[0][0] <= at + 2 * EVERY + 2
    assert found[0][1] > 0.5


@TRAINERS
def test_observations_that_are_lost_are_told_within_the_rollout(name: str) -> None:
    at = LATE
    found = told(name, at, FIT, drawn)
    assert len(found) == 2
    assert at < found[0][0] <= at + 2 * EVERY + 2
    assert max(fit for _, fit in found) <= LOST


@pytest.mark.parametrize("at", [2 * ROLLOUT + 100, 0])
def test_what_followed_for_a_short_while_or_never_is_not_told(at: int) -> None:
    assert not [step for step, _ in told("sb3", at, FIT, drawn) if step < 3 * ROLLOUT]


def test_what_is_cut_off_follows_all_the_same() -> None:
    assert not told("ppo", LATE, FIT, cut)


@TRAINERS
@pytest.mark.parametrize("metric", [SHIFT, FIT])
def test_nothing_is_told_within_rollouts_that_are_as_ever(name: str, metric: str) -> None:
    assert not told(name, 10**9, metric)
