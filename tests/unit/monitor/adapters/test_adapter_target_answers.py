"""A target network computes what the network that it follows computes; a wrapper around one of them is seen."""

from __future__ import annotations

from copy import deepcopy

import gymnasium
import pytest
import torch
from stable_baselines3.common.callbacks import BaseCallback

from firstbreak.monitor.adapters.parts.weights.target_answers import METRIC, ROWS, unlike
from firstbreak.monitor.adapters.parts.weights.untouched import untouched
from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.monitor.core import Monitor
from firstbreak.trainers.dqn import DQN, DQNConfig
from firstbreak.trainers.sac import SAC, SACConfig
from tests.unit.monitor.adapters.sb3_worlds import dqn, sac, td3

torch.set_num_threads(1)


class Values(torch.nn.Module):
    """A small network with running statistics, dropout and two inputs."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.BatchNorm1d(6), torch.nn.Dropout(0.5))
        self.second = torch.nn.Linear(6, 2)

    def forward(self, obs, action):
        return self.second(torch.tanh(self.first(torch.cat([obs["at"], action], 1))))


def pair():
    torch.manual_seed(0)
    network, target = Values(), Values()
    for module in (network, target):
        module.train()
        for _ in range(3):
            module({"at": torch.randn(20, 3)}, torch.randn(20, 1))
    return network, target


def asked():
    generator = torch.Generator().manual_seed(1)
    return {"at": torch.randn(40, 3, generator=generator)}, torch.randn(40, 1, generator=generator)


def told(network, target):
    with untouched(network, target):
        return unlike([(network, target, asked())])


def test_other_weights_and_other_running_statistics_are_no_other_computation():
    network, target = pair()
    before = deepcopy((network.state_dict(), target.state_dict()))
    assert told(network, target) == {METRIC: 0.0}
    for module, kept in zip((network, target), before, strict=True):
        assert all(torch.equal(tensor, kept[name]) for name, tensor in module.state_dict().items())


def test_what_is_told_is_the_distance_of_answers_over_their_size():
    network, target = pair()
    obs, action = asked()
    twin = deepcopy(network)  # the slow twin: the weights are really copied
    twin.load_state_dict(target.state_dict())
    twin.eval()
    with torch.no_grad():
        right = twin({"at": obs["at"][:ROWS]}, action[:ROWS])
    usual = target.forward
    target.forward = lambda obs, action: usual(obs, action).min(1, keepdim=True).values.expand(-1, 2)
    least = right.min(1, keepdim=True).values.expand(-1, 2)
    assert told(network, target)[METRIC] == pytest.approx(float((least - right).norm() / right.norm()), rel=1e-4)


def test_a_network_that_changes_together_with_its_target_is_the_algorithms():
    network, target = pair()
    for module in (network, target):
        module.register_forward_hook(lambda _, given, found: found.clamp(-0.1, 0.1))
    assert told(network, target) == {METRIC: 0.0}


def test_networks_that_draw_and_networks_of_other_kinds_say_nothing():
    network, target = pair()
    target.register_forward_hook(lambda _, given, found: torch.nn.functional.dropout(found, 0.5, training=True))
    assert told(network, target) == {}
    assert unlike([(torch.nn.Linear(4, 2), torch.nn.Linear(4, 3), (torch.ones(2, 4),))]) == {}
    assert unlike([]) == {}


def least(model):
    usual = model.q_net_target.forward
    model.q_net_target.forward = lambda obs: usual(obs).min(1, keepdim=True).values.expand(-1, 3)


def crossed(model):
    for network in model.critic_target.q_networks:
        network.register_forward_pre_hook(lambda _, inputs: (inputs[0].roll(2, 1),))


def by_chance(model):
    usual = model.actor_target.forward
    model.actor_target.forward = lambda obs: usual(obs).flip(1)


def takes_least(trainer):
    usual = trainer.target_network.forward
    trainer.target_network.forward = lambda obs: usual(obs).min(1, keepdim=True).values.expand(-1, 2)


def crosses(trainer):
    for network in trainer.target_critics:
        network.register_forward_pre_hook(lambda _, given: (given[0].flip(-1), given[1]))


@pytest.mark.parametrize(
    ("kind", "config", "task", "plant"),
    [
        (DQN, DQNConfig, "CartPole-v1", takes_least),
        (DQN, DQNConfig, "CartPole-v1", None),
        (SAC, SACConfig, "Pendulum-v1", crosses),
        (SAC, SACConfig, "Pendulum-v1", None),
    ],
)
def test_the_reference_trainers_tell_it_too(kind, config, task, plant):
    settings = config(hidden_sizes=(8,), batch_size=8, learning_starts=20, log_every_steps=20)
    trainer = kind(lambda: gymnasium.make(task), seed=0, config=settings)
    with Monitor(None) as monitor:
        log, at = log_to(monitor, trainer), []

        def then(metrics, step):
            verdict = log(metrics, step)
            if plant and step >= 200 and not at:
                at.append(step)
                plant(trainer)
            return verdict

        trainer.learn(280, then)
    found = [alarm.at for alarm in monitor.alarms if alarm.finding.name == "target-unlike-network"]
    assert monitor.faults == []
    assert bool(found) is (plant is not None)
    assert all(when > at[0] for when in found)


class Begin(BaseCallback):
    def __init__(self, start, plant):
        super().__init__()
        self.start, self.plant = start, plant

    def _on_step(self):
        if self.num_timesteps == self.start:
            self.plant(self.model)
        return True


@pytest.mark.parametrize(
    ("make", "plant"),
    [(dqn, least), (sac, crossed), (td3, crossed), (td3, by_chance), (dqn, None), (sac, None), (td3, None)],
)
def test_stable_baselines_tells_it_at_the_next_row(make, plant):
    start = 250
    with Monitor(None) as monitor:
        callbacks = [MonitorCallback(monitor, every_steps=40), *([Begin(start, plant)] if plant else [])]
        make().learn(360, callback=callbacks)
    found = [alarm.at for alarm in monitor.alarms if alarm.finding.name == "target-unlike-network"]
    assert monitor.faults == []
    assert bool(found) is (plant is not None)
    assert all(at >= start for at in found)
