"""Gradients that something writes into between the loss and the step are seen; those that are clipped are not."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from firstbreak.monitor.adapters.parts.weights.at_rest import STEPS_OF_POLICY, AtRest
from firstbreak.monitor.adapters.parts.weights.given_gradients import GivenGradient
from firstbreak.monitor.adapters.parts.weights.steps_by_rule import EVERY

torch.set_num_threads(1)


def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(5, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3))


def train(net, optimiser, steps, between=lambda net: None, micro=1):
    for _ in range(steps):
        optimiser.zero_grad()
        for _ in range(micro):
            (net(torch.randn(4, 5)) - 1).square().mean().backward()
        between(net)
        optimiser.step()


def each(change):
    def between(net):
        for weight in net.parameters():
            weight.grad = change(weight.grad)

    return between


SOUND = {
    "nothing": lambda net: None,
    "clipped by norm": lambda net: torch.nn.utils.clip_grad_norm_(net.parameters(), 0.1),
    "clipped by value": lambda net: torch.nn.utils.clip_grad_value_(net.parameters(), 0.01),
    "halved": each(lambda gradient: gradient / 2),
    "left out": each(lambda gradient: None),
    "of another type": each(lambda gradient: gradient.to_sparse()),
}
KEPT = torch.Generator().manual_seed(1)
WRITTEN = {
    "the other sign": each(lambda gradient: -gradient),
    "three times as large": each(lambda gradient: 3 * gradient),
    "noise": each(lambda gradient: gradient + gradient.norm() * torch.randn(gradient.shape, generator=KEPT)),
    "entries exchanged": each(lambda gradient: gradient.flip(0)),
}


@pytest.mark.parametrize("between", SOUND.values(), ids=SOUND)
@pytest.mark.parametrize("micro", [1, 3])
def test_gradients_that_only_shrink_are_those_that_the_loss_left(between, micro):
    net, told = network(), []
    make = torch.optim.SGD if between is SOUND["of another type"] else torch.optim.Adam
    optimiser = make(net.parameters(), lr=1e-3)
    watch = AtRest([optimiser], told.append, every=4)
    train(net, optimiser, 20, between, micro)
    assert told == []
    assert float(watch.take().get(STEPS_OF_POLICY, 0.0)) == 0


@pytest.mark.parametrize("between", WRITTEN.values(), ids=WRITTEN)
def test_gradients_that_something_wrote_into_are_told_of_at_the_next_look(between):
    net, told = network(), []
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-3)
    AtRest([optimiser], told.append)
    train(net, optimiser, 2 * EVERY)
    assert told == []
    train(net, optimiser, EVERY + 1, between)
    assert len(told) == 1
    assert told[0][STEPS_OF_POLICY] > 0.1


@pytest.mark.parametrize("factor", [-1.0, -0.5, 0.0, 0.5, 1.0, 2.5])
def test_what_the_loss_had_not_left_is_counted_entry_by_entry(factor):
    net = network()
    weights = list(net.parameters())
    given = GivenGradient(weights, 1)
    optimiser = torch.optim.SGD(weights, lr=0.1)
    net(torch.randn(4, 5)).square().mean().backward()
    left = [weight.grad.clone().double() for weight in (weights[0], weights[-1])]
    for weight in weights:
        weight.grad.mul_(factor)
    optimiser.step()
    off, known = given.stepped()
    entries = [n for part in left for n in part.flatten()[:: max(1, part.numel() // 32) | 1][:32].tolist()]
    beyond = max(0.0, factor - 1) if factor > 0 else -factor
    assert known == pytest.approx(np.array(entries), rel=1e-6)
    assert np.abs(off) == pytest.approx(np.array([beyond * abs(entry) for entry in entries]), rel=2e-3, abs=1e-9)


def test_a_gradient_that_is_taken_apart_from_backward_adds_nothing():
    net = network()
    given = GivenGradient(list(net.parameters()), 1)
    net(torch.randn(4, 5)).square().mean().backward()
    torch.autograd.grad(net(torch.randn(4, 5)).sum(), list(net.parameters()))
    off, _ = given.stepped()
    assert not off.any()
    given.remove()
    net(torch.randn(4, 5)).square().mean().backward()
    assert given.stepped() is None
