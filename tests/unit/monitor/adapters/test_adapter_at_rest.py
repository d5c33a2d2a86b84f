"""Weights that change between two updates are seen; whatever an optimiser does is not."""

from __future__ import annotations

import math

import gymnasium
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.monitor.adapters.parts.weights import at_rest
from firstbreak.monitor.adapters.parts.weights.at_rest import METRIC, OF_CRITIC, OF_POLICY, AtRest
from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.monitor.core import Monitor
from firstbreak.trainers.dqn import DQN, DQNConfig
from firstbreak.trainers.ppo import PPO, PPOConfig
from tests.unit.monitor.adapters.sb3_worlds import a2c, dqn, ppo, sac

torch.set_num_threads(1)


def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.Tanh(), torch.nn.Linear(7, 3))


def train(net, optimiser, steps=3):
    for _ in range(steps):
        optimiser.zero_grad()
        (net(torch.randn(4, 5)) ** 2).mean().backward()
        optimiser.step()


def slow_change(before, after, exact=True):
    """Weights, or norms of each tensor, before and after, number by number."""
    sides = [[[float(v) for v in t.detach().flatten().double()] for t in side] for side in (before, after)]
    if exact:
        old, new = ([v for tensor in side for v in tensor] for side in sides)
    else:
        old, new = ([math.sqrt(sum(v**2 for v in tensor)) for tensor in side] for side in sides)
    moved = math.sqrt(sum((a - b) ** 2 for b, a in zip(old, new, strict=True)))
    return moved / math.sqrt(sum(b * b for b in old))


def test_steps_of_the_optimiser_do_not_count():
    net = network()
    optimiser = torch.optim.Adam(net.parameters(), lr=0.1)
    weights = AtRest([optimiser])
    for _ in range(3):
        train(net, optimiser)
        weights.note()
    train(net, optimiser)
    assert float(weights.take()[METRIC]) == 0
    assert weights.take() == {}


@pytest.mark.parametrize("exact", [True, False])
@given(st.floats(-3, 3).filter(lambda s: abs(s) > 0.01), st.integers(0, 3))
def test_a_change_between_updates_is_measured_as_by_hand(exact, size, which):
    with pytest.MonkeyPatch.context() as patch:
        if not exact:
            patch.setattr(at_rest, "SMALL", 10)
        assert measured(size, which, at_once=False, exact=exact) == [0.0]
        assert measured(size, which, at_once=True, exact=exact) == [0.0]


def measured(size, which, at_once, exact):
    """What is said of one change, compared with the slow figure, and what is said of the next rest."""
    net = network()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
    told = []
    parts = list(net.parameters())
    halves = {OF_POLICY: parts[:2], OF_CRITIC: parts[2:]}
    weights = AtRest([optimiser], told.append if at_once else None, halves)
    weights.note()
    before = [p.detach().clone() for p in parts]
    with torch.no_grad():
        parts[which].add_(size)
    slow = {
        METRIC: slow_change(before, parts, exact),
        OF_POLICY: slow_change(before[:2], parts[:2], exact),
        OF_CRITIC: slow_change(before[2:], parts[2:], exact),
    }
    right = {name: pytest.approx(change, rel=1e-3, abs=1e-6) for name, change in slow.items()}
    train(net, optimiser)
    found = weights.take()
    assert {name: float(found[name]) for name in right} == right
    assert slow[OF_CRITIC if which < 2 else OF_POLICY] == 0
    assert told == ([right] if at_once else [])
    weights.note()
    train(net, optimiser)
    return [float(weights.take()[METRIC])]


def test_entries_that_change_places_are_seen_in_a_small_network_and_parts_of_no_optimiser_are_left_out():
    net = network()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
    weights = AtRest([optimiser], parts={OF_CRITIC: [torch.zeros(3)]})
    weights.note()
    with torch.no_grad():
        net[0].weight.copy_(net[0].weight.flip(0))
    weights.look()
    found = weights.take()
    assert set(found) == {METRIC}
    assert float(found[METRIC]) > 0.1


def test_a_hook_that_is_taken_away_says_nothing():
    net = network()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
    weights = AtRest([optimiser])
    weights.note()
    weights.remove()
    train(net, optimiser)
    assert weights.take() == {}


@torch.no_grad()
def spoil(weights):
    for weight in weights:
        weight.mul_(3)


@pytest.mark.parametrize("make", [ppo, a2c, dqn, sac])
@pytest.mark.parametrize("spoilt", [False, True])
def test_stable_baselines_says_who_wrote_into_the_weights(make, spoilt):
    model = make()
    seen = []

    class Watching(Monitor):
        def _log(self, metrics, step, clock):
            seen.append(metrics.get(METRIC, 0.0))
            return super()._log(metrics, step, clock)

    class Spoiling(MonitorCallback):
        def _on_step(self):
            if spoilt and self.num_timesteps == 230:
                spoil((self.model.actor if make is sac else self.model.policy).parameters())
            return super()._on_step()

    with Watching(None) as monitor:
        model.learn(320, callback=Spoiling(monitor, every_steps=20))
        names = {alarm.finding.name for alarm in monitor.alarms}
    assert monitor.faults == []
    assert (max(seen) > 0.5) is spoilt
    assert ("weights-changed-outside" in names) is spoilt


@pytest.mark.parametrize("spoilt", [False, True])
def test_the_reference_trainers_say_it_too(spoilt):
    config = PPOConfig(num_steps=16, update_epochs=2, num_envs=2, hidden_sizes=(8,))
    trainer = PPO(lambda: gymnasium.make("CartPole-v1"), seed=0, config=config)
    with Monitor(None) as monitor:
        log = log_to(monitor, trainer)

        def then(metrics, step):
            verdict = log(metrics, step)
            if spoilt and step == 320:
                spoil(trainer.actor.parameters())
            return verdict

        trainer.learn(480, then)
        names = {alarm.finding.name for alarm in monitor.alarms}
    assert ("weights-changed-outside" in names) is spoilt


@pytest.mark.parametrize("broken", [lambda w: w.mul_(3), lambda w: w.fill_(math.nan)])
def test_a_replay_trainer_says_it_at_the_next_gradient_step_and_not_at_the_next_row(broken):
    config = DQNConfig(hidden_sizes=(8,), batch_size=8, learning_starts=10, train_frequency=2, log_every_steps=20)
    trainer = DQN(lambda: gymnasium.make("CartPole-v1"), seed=0, config=config)
    with Monitor(None) as monitor:
        log, at = log_to(monitor, trainer), []

        def then(metrics, step):
            verdict = log(metrics, step)
            if step > 400 and not at:
                at.append(step)
                with torch.no_grad():
                    for weight in trainer.q_network.parameters():
                        broken(weight)
            return verdict

        trainer.learn(600, then)
    assert monitor.faults == []
    assert {alarm.at - at[0] for alarm in monitor.alarms if alarm.finding.metric == METRIC} <= {1.0, 2.0, 3.0, 20.0}
    assert monitor.alarms[0].at - at[0] <= 3
    assert all(alarm.at > at[0] for alarm in monitor.alarms)


def test_what_something_writes_at_every_step_is_told_once_a_row_and_when_it_doubles():
    net, told = network(), []
    optimiser = torch.optim.SGD(net.parameters(), lr=0.0)
    weights = AtRest([optimiser], lambda found: told.append(found[METRIC]))
    for size in (0.0, 0.01, 0.01, 0.011, 0.1, 0.1, math.nan, math.nan):
        weights.note()
        with torch.no_grad():
            for weight in net.parameters():
                weight.mul_(1 + size)
        train(net, optimiser, steps=1)
    assert told[:2] == pytest.approx([0.01, 0.1], rel=1e-3)
    assert math.isnan(told[2])
    assert len(told) == 3
    weights.take()
    weights.note()
    train(net, optimiser, steps=1)
    assert len(told) == 4  # NaN is a change still


def test_looking_on_tells_what_look_and_note_tell():
    net, other = network(), network()
    seen, twins = list[dict[str, float]](), list[dict[str, float]]()
    watch = AtRest([torch.optim.SGD(net.parameters(), lr=0.1)], lambda row: seen.append(dict(row)))
    twin = AtRest([torch.optim.SGD(other.parameters(), lr=0.1)], lambda row: twins.append(dict(row)))
    watch.note()
    twin.note()
    for turn in range(8):
        for weights in (net[0].weight, other[0].weight):
            with torch.no_grad():
                weights[0, 0] += {2: 0.1, 3: 1.0, 6: math.nan}.get(turn, 0.0)
        watch.look_on()
        twin.look()
        twin.note()
        if turn in (0, 4):
            assert repr(watch.take()) == repr(twin.take())
    assert repr(seen) == repr(twins)
    assert len(seen) == 3
    assert repr(watch.take()) == repr(twin.take())


def test_a_copy_of_one_tensor_is_no_view_of_it():
    weight = torch.nn.Parameter(torch.ones(3))
    watch = AtRest([torch.optim.SGD([weight], lr=0.1)])
    watch.note()
    with torch.no_grad():
        weight += 1
    watch.look()
    assert float(watch.take()[METRIC]) == pytest.approx(1.0)
