"""Weights that are elsewhere than a step of their optimiser leads are seen; what the optimiser itself does is not."""

from __future__ import annotations

import math

import pytest
import torch
from stable_baselines3.common.sb2_compat.rmsprop_tf_like import RMSpropTFLike

from firstbreak.monitor.adapters.parts.weights.at_rest import STEPS_OF_CRITIC, STEPS_OF_POLICY, AtRest
from firstbreak.monitor.adapters.parts.weights.kept_state import METRIC as STATE
from firstbreak.monitor.adapters.parts.weights.optimiser_rules import rule_of
from firstbreak.monitor.adapters.parts.weights.steps_by_rule import EVERY, LARGEST, StepsByRule
from firstbreak.monitor.adapters.reference import log_to
from firstbreak.monitor.adapters.sb3 import MonitorCallback
from firstbreak.monitor.core import Monitor
from firstbreak.trainers.dqn import DQN, DQNConfig
from tests.unit.monitor.adapters.sb3_worlds import a2c, dqn, ppo, sac

torch.set_num_threads(1)

KNOWN = {
    "Adam": lambda w: torch.optim.Adam(w, lr=1e-2),
    "Adam with decay in the gradient": lambda w: torch.optim.Adam(w, lr=1e-2, weight_decay=0.1),
    "Adam that goes up": lambda w: torch.optim.Adam(w, lr=1e-3, maximize=True),
    "AMSGrad": lambda w: torch.optim.Adam(w, lr=1e-2, amsgrad=True),
    "fused Adam of tiny steps": lambda w: torch.optim.Adam(w, lr=1e-6, fused=True),
    "a rate that is a tensor": lambda w: torch.optim.Adam(w, lr=torch.tensor(1e-3)),
    "AdamW": lambda w: torch.optim.AdamW(w, lr=1e-2, weight_decay=0.3, eps=1e-3),
    "RMSprop": lambda w: torch.optim.RMSprop(w, lr=1e-2, weight_decay=0.1),
    "RMSprop around the mean": lambda w: torch.optim.RMSprop(w, lr=1e-3, centered=True, maximize=True),
    "RMSprop of TensorFlow": lambda w: RMSpropTFLike(w, lr=1e-2, eps=1e-5, weight_decay=0.1),
    "RMSprop of TensorFlow around the mean": lambda w: RMSpropTFLike(w, lr=1e-3, centered=True),
    "SGD": lambda w: torch.optim.SGD(w, lr=0.1, weight_decay=0.1, maximize=True),
}
UNKNOWN = {
    "momentum": lambda w: torch.optim.SGD(w, lr=0.1, momentum=0.9),
    "NAdam": torch.optim.NAdam,
    "a class of one's own": lambda w: type("Own", (torch.optim.Adam,), {})(w, lr=1e-2),
}
WRITES = {
    "a bound": lambda weight, first: weight.clamp_(-0.1, 0.1),
    "a pull to the first weights": lambda weight, first: weight.lerp_(first, 0.1),
    "the first weights": lambda weight, first: weight.copy_(first),
}


def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(5, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3))


def train(net, optimiser, steps, after=lambda: None):
    for _ in range(steps):
        optimiser.zero_grad()
        (net(torch.randn(4, 5, dtype=net[0].weight.dtype)) - 1).square().mean().backward()
        optimiser.step()
        after()


def written(net, change):
    first = [weight.detach().clone() for weight in net.parameters()]

    @torch.no_grad()
    def write(*_):
        for weight, old in zip(net.parameters(), first, strict=True):
            change(weight, old)

    return write


@pytest.mark.parametrize("make", KNOWN.values(), ids=KNOWN)
def test_each_step_leads_where_the_rule_says_and_rates_may_move_in_between(make):
    net = network()
    optimiser = make(list(net.parameters()))
    assert rule_of(optimiser) is not None
    told = []
    watch = AtRest([optimiser], told.append)
    rate = torch.optim.lr_scheduler.ExponentialLR(optimiser, 0.9)
    train(net, optimiser, 4 * EVERY, rate.step)
    found = {name: float(size) for name, size in watch.take().items()}
    assert found == {STEPS_OF_POLICY: 0.0} | ({STATE: 0.0} if optimiser.state else {})
    assert told == []


@pytest.mark.parametrize("make", KNOWN.values(), ids=KNOWN)
def test_the_rule_is_what_the_optimiser_does_number_by_number(make):
    """The slow twin is the optimiser itself: its own step in double precision on a copy of the weights."""
    net = network().double()
    optimiser = make(list(net.parameters()))
    change, needed = rule_of(optimiser)
    for _ in range(5):
        before = [weight.detach().clone() for weight in net.parameters()]
        train(net, optimiser, 1)
        for weight, old in zip(net.parameters(), before, strict=True):
            state = optimiser.state[weight]
            read = {name: (weight.grad if name == "grad" else state[name]).numpy() for name in needed}
            group = optimiser.param_groups[0] | {"lr": float(optimiser.param_groups[0]["lr"])}
            moved = change(old.numpy(), read, group, float(state.get("step", 0)))
            assert moved == pytest.approx((weight.detach() - old).numpy(), rel=1e-6, abs=1e-14)


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("make", [KNOWN["Adam"], KNOWN["RMSprop of TensorFlow"], KNOWN["SGD"], UNKNOWN["momentum"]])
def test_what_is_written_after_a_step_is_told_when_the_next_begins(make, write):
    net, told = network(), []
    optimiser = make(list(net.parameters()))
    AtRest([optimiser], told.append)
    change = written(net, write)
    train(net, optimiser, 5)
    assert told == []
    optimiser.register_step_post_hook(change)
    train(net, optimiser, 2)
    assert len(told) == 1  # at the second step, and once until somebody takes it
    assert told[0][STEPS_OF_POLICY] > 0.1


@pytest.mark.parametrize("known", [True, False])
def test_what_is_written_within_a_step_is_told_by_the_rule_alone(known):
    net, told = network(), []
    optimiser = (KNOWN["Adam"] if known else UNKNOWN["NAdam"])(list(net.parameters()))
    on, change = [], written(net, WRITES["a pull to the first weights"])
    optimiser.register_step_post_hook(lambda *_: change() if on else None)  # before those that look
    watch = AtRest([optimiser], told.append)
    train(net, optimiser, 2 * EVERY)
    assert told == []
    on.append(True)
    train(net, optimiser, EVERY + 1)
    assert (len(told) == 1) is known
    assert (float(watch.take()[STEPS_OF_POLICY]) > 0.1) is known


def test_the_distance_is_in_lengths_of_the_step():
    net = network()
    optimiser = KNOWN["SGD"](list(net.parameters()))
    watch = AtRest([optimiser])
    train(net, optimiser, 1)
    before = [weight.detach().clone() for weight in net.parameters()]
    train(net, optimiser, 1)
    with torch.no_grad():
        for weight, old in zip(net.parameters(), before, strict=True):
            weight.add_(3 * (weight - old))
    assert float(watch.take()[STEPS_OF_POLICY]) == pytest.approx(3, rel=1e-3)
    assert watch.take() == {}


def test_where_a_step_is_nothing_the_distance_has_an_end():
    net = network()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.0)
    watch = AtRest([optimiser])
    train(net, optimiser, 1)
    with torch.no_grad():
        net[0].weight.mul_(2)
    assert float(watch.take()[STEPS_OF_POLICY]) == LARGEST


def test_steps_that_are_left_out_and_weights_that_are_put_back_are_no_steps():
    net, told = network(), []
    optimiser = KNOWN["AdamW"](list(net.parameters()))
    watch = AtRest([optimiser], told.append)
    train(net, optimiser, 3)
    kept, state = [weight.detach().clone() for weight in net.parameters()], optimiser.state_dict()
    for turn in range(3 * EVERY):
        optimiser.zero_grad()
        if turn % 2:
            net(torch.randn(4, 5)).square().mean().backward()
        optimiser.step()  # without gradients nothing moves
        if turn % 5 == 0:
            watch.look_at_steps()
            with torch.no_grad():
                for weight, old in zip(net.parameters(), kept, strict=True):
                    weight.copy_(old)
            optimiser.load_state_dict(state)
    assert told == []
    assert float(watch.take()[STEPS_OF_POLICY]) == 0


def test_weights_that_nobody_can_read_any_more_or_that_are_no_numbers_say_nothing():
    net, told = network(), []
    optimiser = KNOWN["Adam"](list(net.parameters()))
    watch = AtRest([optimiser], told.append)
    train(net, optimiser, 2)
    for make in (torch.bfloat16, torch.float32):
        for weight in net.parameters():
            weight.data, weight.grad = weight.data.to(make), None
        optimiser.state.clear()
        watch.look_at_steps()
    told.clear()
    train(net, optimiser, 2)
    with torch.no_grad():
        net[0].weight.fill_(math.nan)
    train(net, optimiser, EVERY)
    assert all(math.isfinite(float(size)) for size in watch.take().values())


def test_hooks_that_are_taken_away_say_nothing():
    net, told = network(), []
    optimiser = KNOWN["Adam"](list(net.parameters()))
    watch = AtRest([optimiser], told.append)
    change = written(net, WRITES["a bound"])
    watch.remove()
    train(net, optimiser, 3, change)
    assert told == []
    assert watch.take() == {}


def names_of(model, steps, start, change, of=lambda model: model.policy.optimizer):
    """Names of alarms of a training in which something writes after each step from `start` on."""
    from stable_baselines3.common.callbacks import BaseCallback

    class Begin(BaseCallback):
        def _on_step(self):
            if change is not None and self.num_timesteps == start:
                optimiser = of(self.model)
                weights = torch.nn.ParameterList(optimiser.param_groups[0]["params"])
                optimiser.register_step_post_hook(written(weights, change))
            return True

    with Monitor(None) as monitor:
        model.learn(steps, callback=[MonitorCallback(monitor), Begin()])
    assert monitor.faults == []
    return [(alarm.finding.name, alarm.at) for alarm in monitor.alarms]


@pytest.mark.parametrize("change", [None, WRITES["a bound"]])
@pytest.mark.parametrize(("make", "steps", "start"), [(dqn, 400, 300), (a2c, 1600, 1200), (ppo, 512, 400)])
def test_stable_baselines_tells_it_of_what_trains(make, steps, start, change):
    found = [at for name, at in names_of(make(), steps, start, change) if name == "steps-lead-elsewhere"]
    assert bool(found) is (change is not None)
    assert all(at >= start for at in found)


def test_stable_baselines_tells_it_of_the_critic_alone():
    found = {name for name, _ in names_of(sac(), 400, 300, WRITES["a bound"], of=lambda model: model.critic.optimizer)}
    assert "critic-steps-lead-elsewhere" in found
    assert "steps-lead-elsewhere" not in found


def test_who_trains_neither_policy_nor_critic_is_not_looked_at():
    net, other = network(), torch.nn.Linear(2, 2)
    temperature = torch.nn.Parameter(torch.zeros(()))
    optimisers = [torch.optim.Adam(part, lr=1e-2) for part in (net.parameters(), other.parameters(), [temperature])]
    parts = {"policy/outside_change_frac": net.parameters(), "critic/outside_change_frac": other.parameters()}
    watch = AtRest(optimisers, parts=parts)
    for optimiser, of in zip(optimisers, (net, other, None), strict=True):
        train(net, optimiser, 0)
        for _ in range(2):
            loss = temperature.square() if of is None else of(torch.ones(1, 5 if of is net else 2)).square().mean()
            loss.backward()
            optimiser.step()
            with torch.no_grad():
                temperature.add_(1)
    found = {name: float(size) for name, size in watch.take().items()}
    assert found == {STEPS_OF_POLICY: 0.0, STEPS_OF_CRITIC: 0.0, STATE: 0.0}


def test_weights_that_two_optimisers_train_are_left_out():
    net, told = network(), []
    body, all_of_it = torch.optim.Adam(net[0].parameters(), lr=1e-2), torch.optim.Adam(net.parameters(), lr=1e-2)
    watch = AtRest([body, all_of_it], told.append)
    train(net, body, 5)  # the other one begins later
    for _ in range(2 * EVERY):
        train(net, body, 1)
        train(net, all_of_it, 1)
    assert told == []
    assert float(watch.take()[STEPS_OF_POLICY]) == 0
    with torch.no_grad():
        net[2].weight.mul_(2)  # of one alone
    assert float(watch.take().get(STEPS_OF_POLICY, 0.0)) == 0  # its step is judged already
    train(net, all_of_it, 1)
    with torch.no_grad():
        net[2].weight.mul_(2)
    assert float(watch.take()[STEPS_OF_POLICY]) > 1


@pytest.mark.parametrize("spoilt", [False, True])
def test_a_reference_trainer_tells_it_too(spoilt):
    import gymnasium

    config = DQNConfig(hidden_sizes=(8,), batch_size=8, learning_starts=10, train_frequency=2, log_every_steps=20)
    trainer = DQN(lambda: gymnasium.make("CartPole-v1"), seed=0, config=config)
    with Monitor(None) as monitor:
        log, at = log_to(monitor, trainer), []

        def then(metrics, step):
            verdict = log(metrics, step)
            if spoilt and step >= 400 and not at:
                at.append(step)
                weights = torch.nn.ParameterList(trainer.q_network.parameters())
                trainer.optimiser.register_step_post_hook(written(weights, WRITES["a bound"]))
            return verdict

        trainer.learn(460, then)
        found = [alarm.at for alarm in monitor.alarms if alarm.finding.name == "steps-lead-elsewhere"]
    assert monitor.faults == []
    assert bool(found) is spoilt
    assert all(when > at[0] for when in found)


def test_of_weights_that_are_not_on_the_host_nothing_is_read():
    weights = [torch.nn.Parameter(torch.zeros(5, 16, device="meta"))]  # to read one of these is an error
    sgd = torch.optim.SGD(weights, lr=0.1)
    steps = StepsByRule([sgd], every=1)
    for _ in range(3):
        assert not steps.before(sgd)
        weights[0].square().sum().backward()
        sgd.step()
    assert not steps.look()
    assert steps.samples == {}
    steps = StepsByRule([torch.optim.SGD([torch.nn.Parameter(torch.zeros(5, 16))], lr=0.1)], every=1)
    assert len(steps.samples) == 1
