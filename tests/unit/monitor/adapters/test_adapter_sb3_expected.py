"""The loss that a critic should have, beside the one that the training code of Stable-Baselines3 logs."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from firstbreak.monitor.adapters.parts.sb3.off_policy import EXPECTED
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from tests.unit.monitor.adapters import sb3_worlds as worlds
from tests.unit.monitor.adapters.answering import Answering

torch.set_num_threads(1)


def ratios(model) -> np.ndarray:
    monitor = Answering()
    model.learn(600, callback=MonitorCallback(monitor, every_steps=20))
    rows = [row for _, row in monitor.given if EXPECTED in row and row[EXPECTED] > 0]
    assert len(rows) >= 10
    return np.array([row["critic/loss"] / row[EXPECTED] for row in rows])


@pytest.mark.parametrize("make", [worlds.dqn, worlds.sac, worlds.td3])
def test_both_losses_are_alike(make) -> None:
    assert 0.5 < np.median(ratios(make(batch_size=64, learning_starts=100))) < 2


def test_rewards_that_only_the_training_code_scales_show() -> None:
    model = worlds.sac(batch_size=64, learning_starts=100)
    train, sample = model.train, model.replay_buffer.sample

    def scaled(*args, **named):
        rows = sample(*args, **named)
        return rows._replace(rewards=30 * rows.rewards + 30)

    def training(*args, **named) -> None:
        model.replay_buffer.sample = scaled
        train(*args, **named)
        model.replay_buffer.sample = sample

    model.train = training
    assert np.median(ratios(model)) > 3
