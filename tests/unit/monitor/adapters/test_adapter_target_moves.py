"""How far the target networks moved, measured through each library's own training, against plain numpy."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
import torch
from torch import nn

from firstbreak.monitor.adapters.parts.weights.target_moves import METRIC, TargetMoves
from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.trainers.dqn import DQN, DQNConfig
from firstbreak.trainers.sac import SAC, SACConfig
from tests.unit.monitor.adapters import sb3_worlds, torchrl_worlds  # TorchRL warns of itself, which this one holds back
from tests.unit.monitor.adapters.answering import Answering

from firstbreak.monitor.adapters.torchrl import MonitorHook  # isort: skip

OFF = {"hidden_sizes": (8,), "batch_size": 8, "learning_starts": 10, "log_every_steps": 10}


def seen(monitor):
    return [row[METRIC] for row in monitor.merged().values() if METRIC in row]


def test_the_norm_of_the_change_over_the_norm_of_the_weights():
    network = nn.Linear(3, 2)
    moves = TargetMoves(network.parameters())
    before = np.concatenate([w.detach().numpy().astype(float).ravel() for w in network.parameters()])
    with torch.no_grad():
        network.weight += 0.1
    after = np.concatenate([w.detach().numpy().astype(float).ravel() for w in network.parameters()])
    wanted = np.sqrt(((after - before) ** 2).sum()) / np.sqrt((after**2).sum())
    assert float(moves.take()[METRIC]) == pytest.approx(wanted, rel=1e-5)
    assert float(moves.take()[METRIC]) == 0.0
    assert TargetMoves([]).take() == {}


@pytest.mark.parametrize("make", [sb3_worlds.dqn, sb3_worlds.sac, sb3_worlds.td3])
def test_stable_baselines3(make):
    monitor = Answering()
    made = make(target_update_interval=8) if make is sb3_worlds.dqn else make(tau=0.01)
    made.learn(200, callback=MonitorCallback(monitor, every_steps=20))
    assert len(seen(monitor)) >= 3
    assert all(0 < moved < 1 for moved in seen(monitor)[1:])  # the first row comes before the first copy is due


def test_stable_baselines3_that_never_updates_its_target():
    monitor = Answering()
    sb3_worlds.sac(tau=0.0).learn(200, callback=MonitorCallback(monitor, every_steps=20))
    assert set(seen(monitor)) == {0.0}


@pytest.mark.parametrize(
    ("kind", "config", "world"),
    [(DQN, DQNConfig(target_interval=4, **OFF), "CartPole-v1"), (SAC, SACConfig(**OFF), "Pendulum-v1")],
)
@pytest.mark.parametrize("broken", [False, True])
def test_reference_trainers(kind, config, world, broken):
    monitor = Answering()
    trainer = kind(lambda: gymnasium.make(world), seed=0, config=config)
    if broken:
        trainer.sync_target = lambda: None
    trainer.learn(64, log_to(monitor, trainer))
    assert len(seen(monitor)) >= 2
    assert all((moved == 0) == broken for moved in seen(monitor)[1:])


def test_torchrl_and_no_target_network():
    monitor = Answering()
    torchrl_worlds.sac(hook=MonitorHook(monitor))
    assert seen(monitor)
    assert all(0 < moved < 1 for moved in seen(monitor))
    without = Answering()
    torchrl_worlds.ppo(hook=MonitorHook(without))
    assert without.merged()
    assert seen(without) == []
