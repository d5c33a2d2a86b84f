"""Episodes that end and are followed by no new beginning are seen; whatever else begins or ends is not."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
import torch
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from firstbreak.monitor.adapters.parts.resets import AT_ONCE, BEFORE, METRIC, Resets
from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.monitor.core import Monitor
from firstbreak.trainers.dqn import DQN, DQNConfig
from firstbreak.trainers.ppo import PPO, PPOConfig
from tests.unit.monitor.adapters.sb3_worlds import Line, a2c, dqn, ppo

torch.set_num_threads(1)


def test_the_share_of_a_row_and_what_is_told_at_once():
    resets, rng = Resets(), np.random.default_rng(0)
    told = []
    for count in range(1, BEFORE + 7):
        last = rng.normal(size=4)
        told.append(resets.add(last, last + 1e-6 if count > BEFORE else rng.normal(size=4)))
    assert [place + 1 - BEFORE for place, at_once in enumerate(told) if at_once] == list(AT_ONCE)
    assert resets.take() == {METRIC: 6 / (BEFORE + 6)}
    assert resets.take() == {}
    assert not resets.add(np.full(4, np.nan), np.full(4, np.nan))
    assert resets.take() == {METRIC: 0.0}


def test_where_nothing_is_known_yet_only_the_very_same_counts_and_what_is_large_or_of_another_form_is_left_out():
    resets = Resets()
    resets.add(np.ones(2), np.ones(2) + 1e-9)
    resets.add(np.ones(2), np.ones(2))
    assert resets.take() == {METRIC: 0.5}
    resets.add(np.ones(2), np.ones(3))
    resets.add(np.ones(5000), np.ones(5000))
    assert resets.take() == {}


class Forgetful(gymnasium.Wrapper):
    """From some step on, `reset` answers with the observation of the end, and so does all after."""

    def __init__(self, env, since):
        super().__init__(env)
        self.since, self.steps, self.last = since, 0, None

    def reset(self, **kwargs):
        if self.last is not None and self.steps >= self.since:
            self.env.reset(**kwargs)
            return self.last, {}
        return self.env.reset(**kwargs)

    def step(self, action):
        self.steps += 1
        obs, reward, *rest = self.env.step(action)
        self.last = obs
        return obs, reward, *rest


def names(monitor):
    assert monitor.faults == []
    return {alarm.finding.name: alarm.at for alarm in monitor.alarms}


@pytest.mark.parametrize("make", [ppo, a2c, dqn])
@pytest.mark.parametrize("normalised", [False, True])
def test_stable_baselines(make, normalised):
    def trained(since):
        env = DummyVecEnv([lambda: Forgetful(Line(), since)])
        model = make(VecNormalize(env) if normalised else env)
        with Monitor(None) as monitor:
            model.learn(1200, callback=MonitorCallback(monitor, every_steps=20))
        return names(monitor)

    assert 800 < trained(800)["ends-not-reset"] <= 800 + 9 * (AT_ONCE[-1] + 1)
    assert "ends-not-reset" not in trained(10**9)


@pytest.mark.parametrize("kind", [PPO, DQN])
def test_reference_trainers(kind):
    def trained(since):
        if kind is PPO:
            config = PPOConfig(num_steps=16, update_epochs=1, num_envs=2, hidden_sizes=(8,))
        else:
            config = DQNConfig(hidden_sizes=(8,), batch_size=8, learning_starts=10, log_every_steps=20, num_envs=2)
        trainer = kind(lambda: Forgetful(Line(), since // 2), seed=0, config=config)
        with Monitor(None) as monitor:
            trainer.learn(1200, log_to(monitor, trainer))
        return names(monitor)

    assert 800 < trained(800)["ends-not-reset"] <= 800 + 18 * (AT_ONCE[-1] + 1)
    assert "ends-not-reset" not in trained(10**9)


def test_an_environment_of_one_state_is_silent():
    class Bandit(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(0, 1, (1,), np.float32)
        action_space = gymnasium.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            return np.zeros(1, np.float32), {}

        def step(self, action):
            return np.zeros(1, np.float32), float(action), True, False, {}

    with Monitor(None) as monitor:
        ppo(Bandit()).learn(1200, callback=MonitorCallback(monitor, every_steps=20))
    assert "ends-not-reset" not in names(monitor)
