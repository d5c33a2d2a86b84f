"""Moments that an optimiser does not find as it left them are seen; its own steps, and what is put back, are not."""

from __future__ import annotations

from copy import deepcopy

import gymnasium as gym
import pytest
import torch
from stable_baselines3.common.callbacks import BaseCallback

from firstbreak.monitor.adapters.parts.weights.at_rest import AtRest
from firstbreak.monitor.adapters.parts.weights.kept_state import METRIC, KeptState
from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.monitor.core import Monitor
from firstbreak.trainers.dqn import DQN, DQNConfig
from tests.unit.monitor.adapters.sb3_worlds import a2c, dqn, ppo, sac

torch.set_num_threads(1)
MOMENTS = ("exp_avg", "exp_avg_sq")
NAME = "optimiser-state-replaced"


def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(5, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3))


def train(net, optimiser, steps):
    for _ in range(steps):
        optimiser.zero_grad()
        (net(torch.randn(4, 5)) - 1).square().mean().backward()
        optimiser.step()


def zeroed(optimiser, *names):
    for state in optimiser.state.values():
        for name in names:
            state[name].zero_()


def halved(optimiser):
    for state in optimiser.state.values():
        state["exp_avg"].mul_(0.5)


LOSES = {
    "all of it": (lambda optimiser: optimiser.state.clear(), 1.0),
    "both moments": (lambda optimiser: zeroed(optimiser, *MOMENTS), 1.0),
    "the second moments": (lambda optimiser: zeroed(optimiser, "exp_avg_sq"), 1.0),
    "half of the first": (halved, 0.5),
}


@pytest.mark.parametrize(("lose", "size"), LOSES.values(), ids=LOSES)
def test_what_is_lost_between_two_steps_is_told_as_the_next_begins(lose, size):
    net, told = network(), []
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-2)
    watch = AtRest([optimiser], told.append)
    train(net, optimiser, 5)
    watch.note()  # an update is over
    lose(optimiser)
    assert told == []
    train(net, optimiser, 1)
    assert [found[METRIC] for found in told] == [pytest.approx(size)]
    assert float(watch.take()[METRIC]) == pytest.approx(size)
    train(net, optimiser, 3)
    assert float(watch.take()[METRIC]) == 0


def test_it_is_the_distance_of_all_numbers_where_all_are_looked_at():
    """The slow twin reads both moments whole."""
    net = torch.nn.Linear(3, 2)
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-2)
    net(torch.ones(1, 3)).square().sum().backward()
    optimiser.step()
    watch = KeptState(optimiser, net.weight, MOMENTS)
    watch.note()
    before = deepcopy(optimiser.state[net.weight])
    generator = torch.Generator().manual_seed(1)
    for name in MOMENTS:
        optimiser.state[net.weight][name].mul_(1 + 0.1 * torch.rand(2, 3, generator=generator))
    assert watch.look()
    state = optimiser.state[net.weight]
    sizes = [float((state[name] - before[name]).norm() / before[name].norm()) for name in MOMENTS]
    assert watch.take(forget=True) == pytest.approx(max(sizes))
    assert watch.take(forget=True) is None


def test_a_state_that_is_loaded_as_it_was_is_none():
    net, told = network(), []
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-2)
    AtRest([optimiser], told.append)
    train(net, optimiser, 3)
    optimiser.load_state_dict(deepcopy(optimiser.state_dict()))
    train(net, optimiser, 3)
    assert told == []


def test_what_is_put_back_after_a_row_is_not_told():
    net, told = network(), []
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-2)
    watch = AtRest([optimiser], told.append)
    train(net, optimiser, 3)
    kept = deepcopy(optimiser.state_dict())
    train(net, optimiser, 3)
    watch.take()
    optimiser.load_state_dict(kept)
    watch.note()
    train(net, optimiser, 3)
    assert told == []


def test_moments_that_are_no_number_are_told_of_elsewhere():
    net = network()
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-2)
    train(net, optimiser, 1)
    watch = KeptState(optimiser, net[2].bias, MOMENTS)
    watch.note()
    optimiser.state[net[2].bias]["exp_avg"].fill_(float("nan"))
    assert watch.look()
    assert watch.take(forget=True) == 0


def test_an_optimiser_without_moments_is_left_alone():
    net = network()
    watch = KeptState(torch.optim.SGD(net.parameters(), lr=0.1), net[2].bias, ())
    watch.note()
    assert not watch.look()
    assert watch.take(forget=True) is None


class Clears(BaseCallback):
    """Clears what an optimiser remembers, once."""

    def __init__(self, of, at):
        super().__init__()
        self.of, self.at = of, at

    def _on_step(self):
        if self.num_timesteps == self.at:
            self.of(self.model).state.clear()
        return True


def policy(model):
    return model.policy.optimizer


CLEARED = [
    (ppo, 2000, policy, 1700),
    (a2c, 700, policy, 600),
    (dqn, 1200, policy, 1000),
    (sac, 600, lambda model: model.critic.optimizer, 500),
]


@pytest.mark.parametrize("clears", [False, True])
@pytest.mark.parametrize(("make", "steps", "of", "at"), CLEARED, ids=["PPO", "A2C", "DQN", "SAC"])
def test_stable_baselines_tells_it_at_the_next_step(make, steps, of, at, clears, tmp_path):
    model = make()
    with Monitor(tmp_path / "run", alerts=()) as monitor:
        model.learn(steps, callback=[MonitorCallback(monitor), *([Clears(of, at)] if clears else [])])
        found = [alarm.at for alarm in monitor.alarms if alarm.finding.name == NAME]
    assert bool(found) is clears
    assert all(at <= told <= at + 32 for told in found)


def test_the_reference_trainers_tell_it_at_the_next_step(tmp_path):
    with Monitor(tmp_path / "run", alerts=()) as monitor:
        trainer = DQN(lambda: gym.make("CartPole-v1"), seed=0, config=DQNConfig(learning_starts=100, batch_size=16))
        log = log_to(monitor, trainer)
        cleared = []

        def clear(metrics, step):
            log(metrics, step)
            if step >= 1500 and not cleared:
                cleared.append(step)
                trainer.optimiser.state.clear()

        trainer.learn(2500, clear)
        found = [alarm.at for alarm in monitor.alarms if alarm.finding.name == NAME]
    assert found
    assert cleared[0] <= found[0] <= cleared[0] + trainer.config.train_frequency
