"""The same weights and states, the same answers: what else decides what a policy does is told of as it begins."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
import torch
from torch import nn

from firstbreak.finding import Link
from firstbreak.monitor.adapters.gaps import Gaps
from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.adapters.same_answers import LOWEST, METRIC, SameAnswers, parameters_of
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.ranges import SETTLED
from firstbreak.trainers.mmrkhs import MMRKHS, MMRKHSConfig
from firstbreak.trainers.ppo import PPO, PPOConfig

torch.set_num_threads(1)
NAME = "answers-change-at-rest"


class Watching(Monitor):
    def __init__(self):
        super().__init__(None)
        self.seen = []

    def _log(self, metrics, step, clock):
        if METRIC in metrics:
            self.seen.append((step, metrics[METRIC]))
        return super()._log(metrics, step, clock)


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Dropout(0.5), nn.Linear(8, 2))


def asked(net=None):
    net = net or network()
    answers = SameAnswers(net, net)
    answers.note(torch.randn(16, 3))
    return net, answers


def slow_apart(one, two):
    """How far answers moved over their size, number by number."""
    pairs = [(a, b) for rows in zip(one.tolist(), two.tolist(), strict=True) for a, b in zip(*rows, strict=True)]
    return (sum((a - b) ** 2 for a, b in pairs) / sum(a**2 for a, _ in pairs)) ** 0.5


def test_a_change_of_the_answers_is_as_large_as_the_slow_way_says():
    net, answers = asked()
    assert answers.look() == 0.0
    states = answers._kept[0]
    before = net.eval()(states)
    handle = net[-1].register_forward_hook(lambda _, inputs, found: found.clamp(-0.1, 0.1))
    assert answers.look() == pytest.approx(slow_apart(before, net(states)), rel=1e-5)
    handle.remove()
    assert answers.look() == 0.0


def test_modes_random_numbers_and_running_statistics_are_left_alone():
    net, answers = asked()
    before, state = torch.get_rng_state(), {name: value.clone() for name, value in net.state_dict().items()}
    answers.look()
    answers.note(torch.randn(16, 3, generator=torch.Generator().manual_seed(1)))
    assert torch.equal(before, torch.get_rng_state())
    assert all(torch.equal(value, net.state_dict()[name]) for name, value in state.items())
    assert net.training
    assert net[3].training


@pytest.mark.parametrize(
    "write",
    [
        lambda net: torch.optim.SGD(net.parameters(), 0.1).step(),
        lambda net: net(torch.randn(16, 3)),  # moves the running statistics
        lambda net: setattr(net[0], "weight", nn.Parameter(net[0].weight * 2)),
    ],
    ids=["a step", "statistics", "other weights"],
)
def test_what_was_written_to_weights_is_no_answer_that_moved(write):
    net, answers = asked()
    for weight in net.parameters():
        weight.grad = torch.ones_like(weight)
    write(net)
    assert answers.look() is None


def test_an_answer_that_is_odd_once_is_none_that_stays():
    net, answers = asked()
    odd = [True]

    def once(_, inputs, found):
        return found + 1 if odd and odd.pop() else found

    net[-1].register_forward_hook(once)
    assert answers.look() == 0.0


def test_answers_that_are_no_number_are_told_elsewhere():
    net, answers = asked()
    net[-1].register_forward_hook(lambda _, inputs, found: found * np.nan)
    assert answers.look() == 0.0


def test_what_has_no_answer_is_not_asked_again():
    calls = []
    net = network()
    answers = SameAnswers(net, calls.append)
    answers.note(torch.zeros(1, 3))
    answers.note(torch.zeros(1, 3))
    assert answers.look() is None
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


def test_the_first_gaps_are_told_whatever_they_are_and_then_those_that_are_some():
    gaps = Gaps("m", settle=True)
    assert [gaps.add(0.0) for _ in range(SETTLED + 2)] == [True] * SETTLED + [False] * 2
    assert gaps.add(0.5)
    assert gaps.take() == {"m": 0.5}


def reference(kind, begin=None, updates=15, after=12):
    """Train; `begin` changes the trainer once so many updates are over."""
    if kind is PPO:
        config = PPOConfig(num_steps=128, update_epochs=1, num_envs=2, hidden_sizes=(8,))
    else:
        config = MMRKHSConfig(rollout_steps=128, epochs=1, num_envs=2, hidden_sizes=(8,))
    trainer = kind(lambda: gymnasium.make("CartPole-v1"), seed=0, config=config)
    monitor = Watching()
    log = log_to(monitor, trainer)

    def logged(metrics, step):
        log(metrics, step)
        if begin is not None and step == after * 256:
            begin(trainer)

    trainer.learn(updates * 256, logged)
    monitor.close()
    assert monitor.faults == []
    return monitor


def pushed(_, inputs, found):
    return found + torch.tensor([2.0, 0.0])


def from_here_on(trainer):
    trainer.actor.net[-1].register_forward_hook(pushed)


def while_it_plays(trainer):
    usual = trainer.collect

    def collect():
        handle = trainer.actor.net[-1].register_forward_hook(pushed)
        try:
            return usual()
        finally:
            handle.remove()

    trainer.collect = collect


@pytest.mark.parametrize("kind", [PPO, MMRKHS])
@pytest.mark.parametrize("begin", [from_here_on, while_it_plays])
def test_a_policy_that_answers_otherwise_is_named_at_the_first_step_of_the_next_rollout(kind, begin):
    monitor = reference(kind, begin)
    named = [alarm for alarm in monitor.alarms if alarm.finding.name == NAME]
    assert [alarm.at for alarm in named] == [12 * 256 + 2]
    assert named[0].finding.link is Link.POLICY_UPDATE
    assert all(moved == 0 for step, moved in monitor.seen if step <= 12 * 256)


@pytest.mark.parametrize("kind", [PPO, MMRKHS])
def test_a_sound_training_has_the_same_answers_throughout(kind):
    monitor = reference(kind)
    assert len(monitor.seen) > SETTLED
    assert {moved for _, moved in monitor.seen} == {0.0}
    assert NAME not in {alarm.finding.name for alarm in monitor.alarms}
