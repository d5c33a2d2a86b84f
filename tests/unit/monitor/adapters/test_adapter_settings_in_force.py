"""The settings that an update obeys are those of the row, whatever the start said."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from stable_baselines3.common.callbacks import BaseCallback

from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.trainers.dqn import DQN, DQNConfig
from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.ppo import PPO, PPOConfig
from firstbreak.trainers.sac import SAC, SACConfig
from tests.unit.monitor.adapters import sb3_worlds as worlds
from tests.unit.monitor.adapters.answering import Answering

torch.set_num_threads(1)
SMALL = {"hidden_sizes": (8,), "num_envs": 2}


class Changes(BaseCallback):
    """Sets one attribute of the model at a step."""

    def __init__(self, name: str, value: float, at: int) -> None:
        super().__init__()
        self.name, self.value, self.at = name, value, at

    def _on_step(self) -> bool:
        if self.num_timesteps == self.at:
            setattr(self.model, self.name, self.value)
        return True


@pytest.mark.parametrize(
    ("make", "name", "value", "metric"),
    [
        (worlds.ppo, "vf_coef", 0.0, "critic/loss_weight"),
        (worlds.ppo, "n_epochs", 9, "optim/epochs"),
        (worlds.ppo, "max_grad_norm", 1e9, "optim/max_grad_norm"),
        (worlds.ppo, "normalize_advantage", False, "advantage/normalised"),
        (worlds.a2c, "vf_coef", 0.0, "critic/loss_weight"),
        (worlds.sac, "tau", 0.9, "critic/target_tau"),
        (worlds.sac, "batch_size", 1, "optim/batch_size"),
        (worlds.dqn, "target_update_interval", 1, "critic/target_interval"),
        (worlds.dqn, "gradient_steps", 4, "optim/gradient_steps"),
        (worlds.td3, "policy_delay", 5, "policy/delay"),
    ],
)
def test_a_setting_of_sb3_that_changes_shows(make, name: str, value: float, metric: str) -> None:
    monitor, model = Answering(), make()
    before = float(getattr(model, name))
    model.learn(200, callback=[MonitorCallback(monitor, every_steps=20), Changes(name, value, 100)])
    assert not monitor.faults
    found = [row[metric] for _, row in monitor.given if metric in row]
    assert (found[0], found[-1]) == (before, float(value))


def test_replay_of_sb3_is_counted_in_transitions() -> None:
    monitor = Answering()
    worlds.dqn(buffer_size=50).learn(100, callback=MonitorCallback(monitor, every_steps=20))
    assert monitor.latest["replay/capacity"] == 50
    assert monitor.latest["replay/train_interval"] == 4


@pytest.mark.parametrize(
    ("make", "config", "discrete", "name", "value", "metric"),
    [
        (PPO, PPOConfig(num_steps=32, **SMALL), True, "value_coef", 0.0, "critic/loss_weight"),
        (PPO, PPOConfig(num_steps=32, **SMALL), True, "update_epochs", 9, "optim/epochs"),
        (MMRKHS, MMRKHSConfig(rollout_steps=32, **SMALL), True, "epochs", 3, "optim/epochs"),
        (DQN, DQNConfig(learning_starts=20, log_every_steps=20, **SMALL), True, "target_interval", 1,
         "critic/target_interval"),
        (SAC, SACConfig(learning_starts=20, log_every_steps=20, **SMALL), False, "tau", 0.9, "critic/target_tau"),
    ],
)  # fmt: skip
def test_a_setting_of_a_reference_trainer_that_changes_shows(make, config, discrete, name, value, metric) -> None:
    monitor = Answering(clock="env_steps")
    trainer = make(lambda: worlds.Line(discrete=discrete), config=config)
    before, log = float(getattr(config, name)), log_to(monitor, trainer)
    trainer.learn(100, log)
    trainer.config = replace(trainer.config, **{name: value})
    trainer.learn(200, log)
    assert not monitor.faults
    found = [row[metric] for _, row in monitor.given if metric in row]
    assert (found[0], found[-1]) == (before, float(value))
