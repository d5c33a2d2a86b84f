"""What a replay buffer gives out is held against what it holds."""

from __future__ import annotations

import math

import gymnasium
import numpy as np
import pytest
import torch
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.vec_env import DummyVecEnv

from firstbreak.monitor.adapters.parts.drawn import METRIC, of_sb3, unlike
from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.monitor.core import Monitor
from firstbreak.trainers.dqn import DQN, DQNConfig
from tests.unit.monitor.adapters.sb3_worlds import Line, dqn, sac

torch.set_num_threads(1)


def test_rows_are_compared_number_by_number():
    stored = {"obs": np.arange(12.0).reshape(4, 3), "reward": np.array([0.0, 1.0, math.nan, 3.0])}
    drawn = {name: column.astype(np.float32) for name, column in stored.items()}
    assert unlike(drawn, stored).tolist() == [False] * 4
    drawn["obs"][1, 2] += 1
    drawn["reward"][3] = 0
    assert unlike(drawn, stored).tolist() == [False, True, False, True]
    assert unlike({"obs": np.ones((4, 2))}, stored) is None


class Rows(Monitor):
    def __init__(self):
        super().__init__(None)
        self.seen = []

    def _log(self, metrics, step, clock):
        if METRIC in metrics:
            self.seen.append((step, metrics[METRIC]))
        return super()._log(metrics, step, clock)


def moved(buffer):
    """Rewards and ends are those of the row after."""
    usual = buffer._get_samples

    def get(rows, env=None):
        after = usual((rows + 3) % buffer.size(), env=env)
        return usual(rows, env=env)._replace(rewards=after.rewards, dones=after.dones)

    buffer._get_samples = get


@pytest.mark.parametrize("make", [dqn, sac])
@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("broken", [False, True])
def test_stable_baselines(make, copies, broken):
    model, monitor = make(DummyVecEnv([lambda: Line(discrete=make is dqn)] * copies)), Rows()

    class Beginning(MonitorCallback):
        def _on_step(self):
            if broken and self.num_timesteps == 400:
                moved(self.model.replay_buffer)
            return super()._on_step()

    model.learn(600, callback=Beginning(monitor, every_steps=20))
    monitor.close()
    assert monitor.faults == []
    assert max(share for step, share in monitor.seen if step < 400) == 0
    assert (max(share for step, share in monitor.seen if step > 400) > 0.3) is broken
    assert ("drawn-not-as-stored" in {alarm.finding.name for alarm in monitor.alarms}) is broken


def test_a_buffer_of_another_kind_is_left_alone():
    class Relabelling(ReplayBuffer):
        pass

    model = dqn(replay_buffer_class=Relabelling)
    model.learn(60)
    assert of_sb3(model.replay_buffer) == {}


@pytest.mark.parametrize("broken", [False, True])
def test_reference_trainers(broken):
    config = DQNConfig(hidden_sizes=(8,), batch_size=16, learning_starts=10, log_every_steps=20, num_envs=2)
    trainer = DQN(lambda: gymnasium.make("CartPole-v1"), seed=0, config=config)
    usual = trainer.sample

    def sample():
        rows = usual()
        if broken and trainer.env_steps > 400:
            rows["action"] = 1 - rows["action"]
        return rows

    trainer.sample = sample
    with Rows() as monitor:
        trainer.learn(600, log_to(monitor, trainer))
    assert monitor.faults == []
    assert max(share for step, share in monitor.seen if step <= 400) == 0
    assert {share for step, share in monitor.seen if step > 400} == {float(broken)}
    assert ("drawn-not-as-stored" in {alarm.finding.name for alarm in monitor.alarms}) is broken
