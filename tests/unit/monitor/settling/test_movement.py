"""Planted reasons why weights stand still, each told from the others."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from firstbreak.errors import InputError
from firstbreak.monitor.core import Monitor
from firstbreak.monitor.settling import Movement, MovementResult
from firstbreak.registry import all_rules

torch.set_num_threads(1)


def network(dtype: torch.dtype = torch.float32) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2)).to(dtype)


def step(nets: dict[str, Any], optimiser: Any, *losses: torch.Tensor, told: bool = True) -> MovementResult:
    movement = Movement(nets, [optimiser] if told else ())
    optimiser.zero_grad()
    sum(losses, torch.zeros(())).backward()
    movement.before_step()
    optimiser.step()
    return movement.after_step()


def loss_of(net: nn.Module, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return net(torch.ones(3, 4, dtype=dtype)).square().mean()


def test_an_update_that_moves_everything_says_so_with_the_right_numbers() -> None:
    net = network()
    before = torch.cat([p.detach().flatten() for p in net.parameters()])
    result = step({"actor": net}, torch.optim.SGD(net.parameters(), lr=0.1), loss_of(net))
    after = torch.cat([p.detach().flatten() for p in net.parameters()])
    gradient = torch.cat([p.grad.flatten() for p in net.parameters() if p.grad is not None])
    assert result.verdict == "moves"
    numbers = result.metrics()
    assert numbers["optim/weight_delta"] == pytest.approx(float((after - before).norm() / before.norm()), rel=1e-5)
    assert numbers["optim/actor_grad_norm"] == pytest.approx(float(gradient.norm()), rel=1e-5)


def test_a_layer_missing_from_the_optimiser_is_named() -> None:
    net = network()
    result = step({"actor": net}, torch.optim.Adam(net[0].parameters()), loss_of(net))
    (one,) = result.networks
    assert result.verdict == "partly at rest"
    assert one.without_optimiser == ("2.weight", "2.bias")
    assert one.held_still == ()
    assert "in no optimiser" in result.meaning


def test_a_cut_graph_is_a_missing_gradient() -> None:
    actor, critic = network(), network()
    optimiser = torch.optim.Adam([*actor.parameters(), *critic.parameters()])
    result = step({"actor": actor, "critic": critic}, optimiser, loss_of(actor))
    assert [one.verdict for one in result.networks] == ["moves", "at rest"]
    assert result.verdict == "at rest"
    assert len(result.networks[1].without_gradient) == 4
    assert "does not reach them" in result.meaning


def test_a_gradient_of_zero_is_told_from_none() -> None:
    net = network()
    result = step({"actor": net}, torch.optim.SGD(net.parameters(), lr=0.1), 0.0 * loss_of(net))
    assert len(result.networks[0].zero_gradient) == 4
    assert "exactly 0" in result.meaning


def test_a_rate_of_zero_leaves_a_gradient_and_no_change() -> None:
    net = network()
    result = step({"actor": net}, torch.optim.SGD(net.parameters(), lr=0.0), loss_of(net))
    assert len(result.networks[0].held_still) == 4
    assert "rate 0" in result.meaning


def test_the_copy_that_is_stepped_is_not_the_one_that_acts() -> None:
    net, copy = network(), network()
    optimiser = torch.optim.SGD(copy.parameters(), lr=0.1)
    result = step({"actor": net}, optimiser, loss_of(net) + loss_of(copy))
    assert len(result.networks[0].without_optimiser) == 4
    untold = step({"actor": net}, optimiser, loss_of(net) + loss_of(copy), told=False)
    assert len(untold.networks[0].held_still) == 4
    assert "a copy was stepped" in untold.meaning


def test_steps_below_bfloat16_are_lost_in_rounding() -> None:
    net = network(torch.bfloat16)
    result = step({"actor": net}, torch.optim.SGD(net.parameters(), lr=1e-6), loss_of(net, torch.bfloat16))
    assert result.networks[0].low_precision
    assert "lost in rounding" in result.meaning


def test_a_network_without_trainable_weights_is_no_fault() -> None:
    net, frozen = network(), network().requires_grad_(requires_grad=False)
    result = step({"actor": net, "reference": frozen}, torch.optim.SGD(net.parameters(), lr=0.1), loss_of(net))
    assert [one.verdict for one in result.networks] == ["moves", "nothing to train"]
    assert result.verdict == "moves"


def test_sparse_gradients_are_read() -> None:
    net = nn.Embedding(10, 3, sparse=True)
    result = step({"policy": net}, torch.optim.SGD(net.parameters(), lr=0.1), net(torch.tensor([1, 2])).sum())
    assert result.verdict == "moves"


def test_a_monitor_takes_the_numbers() -> None:
    net, monitor = network(), Monitor(algorithm="PPO")
    for update in range(3):
        found = step({"actor": net}, torch.optim.SGD(net.parameters(), lr=0.1), loss_of(net))
        monitor.log(found.metrics(), step=update)
    assert monitor.faults == []
    assert {"policy-frozen", "critic-frozen", "grad-norm-zero"} <= {r.name for r in all_rules()} & set(found.settles)
    assert found.cannot_tell


def test_the_order_of_calls_and_an_empty_mapping_are_checked() -> None:
    with pytest.raises(InputError, match="before_step"):
        Movement({"actor": network()}).after_step()
    with pytest.raises(InputError, match="No network"):
        Movement({})
