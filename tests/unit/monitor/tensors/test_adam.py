"""What is read of Adam's state, against the sums of its own definition."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from firstbreak.monitor.tensors import adam_moments
from firstbreak.monitor.tensors.adam import SAMPLED

torch.set_num_threads(1)


def trained(steps: int, eps: float = 1e-8, **more: Any) -> tuple[nn.Module, torch.optim.Optimizer, list[list[Any]]]:
    """A network after some steps of Adam, and the gradient of each weight at each step."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-2, betas=(0.9, 0.99), eps=eps, **more)
    seen: list[list[Any]] = []
    for _ in range(steps):
        optimiser.zero_grad()
        net(torch.randn(16, 4)).pow(2).mean().backward()
        seen.append([w.grad.numpy().copy() for w in net.parameters()])
        optimiser.step()
    return net, optimiser, seen


def by_definition(seen: list[list[Any]], eps: float, beta2: float = 0.99) -> tuple[float, float]:
    """Mean second moment, and the share of weights with a gradient whose corrected root is below epsilon."""
    values, below, alive = [], 0, 0
    for place in range(len(seen[0])):
        moment = np.zeros_like(seen[0][place])
        for step in seen:
            moment = beta2 * moment + (1 - beta2) * step[place] ** 2
        values.append(moment.ravel())
        root = np.sqrt(moment / (1 - beta2 ** len(seen)))
        alive += int((moment > 0).sum())
        below += int(((moment > 0) & (root < eps)).sum())
    return float(np.concatenate(values).mean()), below / alive


@pytest.mark.parametrize("eps", [1e-8, 1e-2, 3e-2, 1.0])
@pytest.mark.parametrize("steps", [1, 7])
def test_the_state_is_summed_as_defined(eps: float, steps: int):
    _, optimiser, seen = trained(steps, eps)
    found = {name: float(value) for name, value in adam_moments(optimiser).items()}
    moment, share = by_definition(seen, eps)
    assert found["optim/second_moment"] == pytest.approx(moment, rel=1e-4)
    assert found["optim/epsilon_dominated_frac"] == pytest.approx(share, abs=1e-6)


def test_nothing_is_said_before_the_first_step_and_of_other_optimisers():
    net, optimiser, _ = trained(0)
    assert adam_moments(optimiser) == {}
    plain = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    net(torch.ones(1, 4)).sum().backward()
    plain.step()
    assert adam_moments(plain) == {}


def test_lost_moments_read_zero_and_no_share_of_nothing():
    _, optimiser, _ = trained(3)
    for state in optimiser.state.values():
        state["exp_avg_sq"].zero_()
    assert {name: float(value) for name, value in adam_moments(optimiser).items()} == {
        "optim/second_moment": 0.0,
        "optim/epsilon_dominated_frac": 0.0,
    }


def test_of_large_weights_an_even_sample_is_read():
    weight = nn.Parameter(torch.zeros(10 * SAMPLED))
    optimiser = torch.optim.Adam([weight], betas=(0.9, 0.999))
    weight.grad = torch.linspace(0, 1, weight.numel())
    optimiser.step()
    found = float(adam_moments(optimiser)["optim/second_moment"])
    assert found == pytest.approx(0.001 / 3, rel=1e-3)
    assert math.isfinite(found)


def test_an_optimiser_with_two_epsilons_is_left_alone():
    weight = torch.ones(4, requires_grad=True)
    optimiser = torch.optim.SGD([weight], lr=0.1)
    optimiser.param_groups[0]["eps"] = (1e-30, 1e-3)  # Adafactor's
    optimiser.state[weight] = {"exp_avg_sq": torch.ones(4), "step": torch.tensor(1.0)}
    assert adam_moments(optimiser) == {}
