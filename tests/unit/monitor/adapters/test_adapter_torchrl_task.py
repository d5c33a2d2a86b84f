"""Which registered task a TorchRL collector steps, and which transforms may change what it pays."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import gymnasium
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of TorchRL's own, at import
    from torchrl.collectors import Collector
from torchrl.envs import Compose, GymEnv, GymWrapper, RewardScaling, RewardSum, StepCounter, TransformedEnv

from firstbreak.monitor.adapters.parts.torchrl.config import task_config
from tests.unit.monitor.adapters.torchrl_worlds import env

CART = {"env_id": "CartPole-v1"}


class Turned(gymnasium.RewardWrapper):
    def reward(self, reward):
        return -reward


def told(made):
    collector = Collector(made, None, frames_per_batch=8, total_frames=8)
    try:
        return task_config(SimpleNamespace(collector=collector))
    finally:
        collector.shutdown()


@pytest.mark.parametrize("transforms", [(RewardSum(), StepCounter()), (StepCounter(),)])
def test_transforms_that_leave_the_reward_raise_no_doubt(transforms):
    assert told(TransformedEnv(GymEnv("CartPole-v1"), Compose(*transforms))) == CART
    assert told(GymEnv("CartPole-v1")) == CART


def test_what_may_change_the_reward_is_named():
    assert told(TransformedEnv(GymEnv("CartPole-v1"), RewardScaling(0, -1))) == CART | {"env_wrappers": "RewardScaling"}
    turned = GymWrapper(Turned(gymnasium.make("CartPole-v1")))
    scaled = TransformedEnv(turned, Compose(RewardScaling(0, 2), RewardSum()))
    assert told(scaled) == CART | {"env_wrappers": "RewardScaling, Turned"}


def test_a_world_of_ones_own_has_no_name():
    assert told(env(True)) == {}
    assert task_config(SimpleNamespace(collector=object())) == {}
