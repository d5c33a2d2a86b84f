"""A network is held against its structure as training began: what was put into it on the way shows in its answers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from stable_baselines3.common.noise import NormalActionNoise
from torch import nn

from firstbreak.monitor.adapters.parts.sb3.answers import AnswersOfModel
from firstbreak.monitor.adapters.parts.weights.twin import LOWEST, METRIC, Twin, parameters_of, structure, twin_of
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.monitor.core import Monitor
from tests.unit.monitor.adapters import sb3_worlds as worlds

torch.set_num_threads(1)
NAME = "answers-change-at-rest"


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Dropout(0.5), nn.Linear(8, 2))


def asks(net, states):
    return net(states)


def slow_apart(one, two):
    """How far answers moved over their size, number by number."""
    pairs = [(a, b) for rows in zip(one.tolist(), two.tolist(), strict=True) for a, b in zip(*rows, strict=True)]
    return (sum((a - b) ** 2 for a, b in pairs) / sum(a**2 for a, _ in pairs)) ** 0.5


def test_a_bound_on_the_outputs_is_as_large_as_the_slow_way_says_whatever_weights_do():
    net, states = network(), torch.randn(16, 3)
    twin = Twin(net, asks)
    for weight in net.parameters():
        nn.init.normal_(weight)
    net(states)  # moves the running statistics
    assert twin.look(states) == 0.0
    net.eval()
    right = net(states)
    handle = net[-1].register_forward_hook(lambda _, inputs, found: found.clamp(-0.1, 0.1))
    assert twin.look(states) == pytest.approx(slow_apart(right, net(states)), rel=1e-5)
    handle.remove()
    assert twin.look(states) == 0.0


def test_a_forward_that_was_replaced_and_another_layer_show():
    net, states = network(), torch.randn(16, 3)
    twin = Twin(net, asks)
    usual = net[-1].forward
    net[-1].forward = lambda rows: -usual(rows)
    assert twin.look(states) == pytest.approx(2.0)
    net[-1].forward = usual
    net[2] = nn.ReLU()
    assert twin.look(states) > 0.1


def test_modes_random_numbers_and_statistics_are_left_alone():
    net = network()
    twin = Twin(net, asks)
    before, state = torch.get_rng_state(), {name: value.clone() for name, value in net.state_dict().items()}
    twin.look(torch.ones(16, 3))
    assert torch.equal(before, torch.get_rng_state())
    assert all(torch.equal(value, net.state_dict()[name]) for name, value in state.items())
    assert all(part.training for part in net.modules())


def test_a_twin_holds_no_memory_for_weights_nor_an_optimiser():
    net = network()
    net.optimizer = torch.optim.Adam(net.parameters())
    copied = structure(net)
    assert {tensor.device.type for tensor in [*copied.parameters(), *copied.buffers()]} == {"meta"}
    assert copied.optimizer is None
    assert net.optimizer is not None


def test_what_cannot_be_copied_has_no_twin_and_what_fails_is_not_asked_again():
    net = network()
    net.generator = (one for one in range(3))
    assert twin_of(net, asks) is None
    calls = []

    def fails(asked, states):
        calls.append(states)
        raise ValueError("no answer")

    twin = Twin(network(), fails)
    with pytest.raises(ValueError, match="no answer"):
        twin.look(torch.ones(1, 3))
    assert twin.look(torch.ones(1, 3)) is None
    assert len(calls) == 1


def test_parameters_of_the_usual_distributions():
    from torch.distributions import Categorical, Independent, Laplace, Normal, StudentT, TanhTransform
    from torch.distributions import TransformedDistribution as Transformed

    mean, spread = torch.randn(4, 2), torch.rand(4, 2)
    both = torch.cat([mean, spread], 1)
    normal = Independent(Normal(mean, spread), 1)
    assert torch.equal(parameters_of(normal), both)
    assert torch.equal(parameters_of(Transformed(normal, TanhTransform())), both)
    assert torch.equal(parameters_of(Laplace(mean, spread)), both)
    logits = torch.tensor([[0.0, -torch.inf]])
    assert torch.equal(parameters_of(Categorical(logits=logits)), torch.tensor([[0.0, LOWEST]]))
    assert parameters_of(torch.distributions.Poisson(torch.ones(3))) is None
    assert parameters_of(StudentT(3.0, mean, spread)) is not None


class Watching(Monitor):
    def __init__(self):
        super().__init__(None)
        self.seen = []

    def _log(self, metrics, step, clock):
        if METRIC in metrics:
            self.seen.append((step, metrics[METRIC]))
        return super()._log(metrics, step, clock)


def td3():
    return worlds.td3(action_noise=NormalActionNoise(np.zeros(2), np.full(2, 0.1)), train_freq=16)


def sac():
    return worlds.sac(train_freq=16)


HEADS = {
    worlds.ppo: lambda model: model.policy.action_net,
    worlds.a2c: lambda model: model.policy.action_net,
    worlds.dqn: lambda model: model.q_net.q_net[-1],
    sac: lambda model: model.actor.mu,
    td3: lambda model: model.actor.mu[-2],
}
STEPS, BROKEN = 2560, 2048


def trained(make, begin=None):
    model = make()
    monitor = Watching()

    class Beginning(MonitorCallback):
        def _on_step(self):
            going_on = super()._on_step()
            if begin is not None and self.num_timesteps == BROKEN:
                begin(self.model)
            return going_on

    model.learn(STEPS, callback=Beginning(monitor, every_steps=256))
    monitor.close()
    assert monitor.faults == []
    return monitor


@pytest.mark.parametrize("make", HEADS)
def test_a_head_that_computes_otherwise_is_named_at_the_next_look(make):
    def begin(model):
        HEADS[make](model).register_forward_hook(lambda _, inputs, found: -found)

    monitor = trained(make, begin)
    assert {moved for step, moved in monitor.seen if step <= BROKEN} == {0.0}
    named = [alarm for alarm in monitor.alarms if alarm.finding.name == NAME]
    assert BROKEN < named[0].at <= BROKEN + 512


@pytest.mark.parametrize("make", HEADS)
def test_a_sound_model_is_its_twin_throughout(make):
    monitor = trained(make)
    assert monitor.seen
    assert {moved for _, moved in monitor.seen} == {0.0}


@pytest.mark.parametrize("make", [lambda: worlds.ppo(use_sde=True, env=worlds.Line(discrete=False)), sac])
def test_weights_and_random_numbers_are_the_same_with_and_without_a_look(make):
    models = []
    for looks in (True, False):
        model = make()
        monitor = Monitor(None)
        callback = MonitorCallback(monitor, every_steps=64)
        if not looks:
            callback._asking = ()
        start = callback._on_training_start

        def started(callback=callback, start=start, looks=looks):
            start()
            if not looks:
                callback._asking = ()

        callback._on_training_start = started
        model.learn(400, callback=callback)
        monitor.close()
        models.append(model)
    assert worlds.same(*models)


@pytest.mark.parametrize("make", HEADS)
def test_a_model_that_was_trained_before_has_a_twin_too(make):
    model = make()
    model.learn(64)
    assert AnswersOfModel(model)._twin.look(torch.zeros(1, 2)) == 0.0


def test_observations_in_pieces_are_left_alone():
    answers = AnswersOfModel(worlds.dqn())
    answers.model.num_timesteps = 10_000
    assert answers.look({"obs_tensor": {"at": torch.zeros(1, 2)}}) == {}
