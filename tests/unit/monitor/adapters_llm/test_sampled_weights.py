"""What a step does to the weights, seen on a sample: optimisers of torch, and what can go wrong with them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from firstbreak.monitor.adapters.parts.weights.sampled_weights import (
    DECAY,
    DELTA,
    HELD,
    STILL,
    SampledWeights,
    decay,
    held,
)
from firstbreak.monitor.adapters.parts.weights.stepping import Stepping
from firstbreak.monitor.adapters.parts.weights.trained_share import MAY, WITHOUT


def model(dtype: torch.dtype = torch.float32) -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(40, 40), torch.nn.Tanh(), torch.nn.Linear(40, 1)).to(dtype)


def step(net: Any, optimiser: Any, seen: SampledWeights) -> dict[str, float]:
    net.zero_grad()
    net(torch.ones(8, 40, dtype=next(net.parameters()).dtype)).square().mean().backward()
    seen.before()
    optimiser.step()
    return {name: float(value) for name, value in seen.after().items()}


def test_a_step_of_adam_moves_every_weight_that_has_a_gradient():
    net = model()
    optimiser, seen = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.0), SampledWeights(net.parameters())
    before = torch.cat([w.detach().flatten().clone() for w in net.parameters()])
    found = step(net, optimiser, seen)
    after = torch.cat([w.detach().flatten() for w in net.parameters()])
    assert found[STILL] == 0.0
    assert found[DELTA] == pytest.approx(float((after - before).norm() / before.norm()), rel=0.1)
    assert seen.after() == {}


def test_small_steps_are_lost_in_bfloat16_and_not_in_float32():
    for dtype, least, most in ((torch.bfloat16, 0.8, 1.0), (torch.float32, 0.0, 0.01)):
        net = model(dtype)
        found = step(net, torch.optim.AdamW(net.parameters(), lr=1e-5), SampledWeights(net.parameters()))
        assert least <= found[STILL] <= most


def test_an_optimiser_of_copies_moves_nothing_and_holds_nothing():
    net = model()
    copies = [torch.nn.Parameter(w.detach().clone()) for w in net.parameters()]
    optimiser = torch.optim.AdamW(copies, lr=1e-3)
    found = step(net, optimiser, SampledWeights(net.parameters()))
    assert (found[STILL], found[DELTA]) == (1.0, 0.0)
    assert held(optimiser, net.parameters()) == {HELD: 0.0}
    assert held(torch.optim.AdamW(net.parameters()), net.parameters()) == {HELD: 1.0}
    assert held(torch.optim.AdamW(net[0].parameters()), net.parameters()) == {HELD: pytest.approx(1640 / 1681)}


def test_a_step_that_was_left_out_is_not_counted():
    net = model()
    seen = SampledWeights(net.parameters())
    seen.before()
    seen.forget()
    assert seen.after() == {}


def test_a_model_that_rests_changes_by_nothing_and_one_that_is_replaced_by_much():
    net = model()
    seen = SampledWeights(net.parameters())
    assert seen.change() is None
    assert float(seen.change() or 0) == 0.0
    with torch.no_grad():
        for weight in net.parameters():
            weight.mul_(1.5)
    assert float(seen.change() or 0) == pytest.approx(0.5)


def test_nothing_is_said_of_no_weights():
    assert SampledWeights([torch.zeros(0)]).change() is None
    assert SampledWeights([torch.zeros(0)]).after() == {}


@pytest.mark.parametrize(
    ("optimiser", "expected"),
    [
        (torch.optim.AdamW(model().parameters(), lr=1e-3, weight_decay=20.0), {DECAY: 0.02}),
        (torch.optim.AdamW(model().parameters(), lr=1e-3, weight_decay=0.0), {DECAY: 0.0}),
        (torch.optim.Adam(model().parameters(), lr=1e-3, weight_decay=20.0), {}),
        (SimpleNamespace(param_groups=[]), {}),
    ],
)
def test_decay_of_a_step_is_rate_times_decay_where_it_is_decoupled(optimiser: Any, expected: dict[str, float]):
    assert decay(optimiser) == pytest.approx(expected)


def trainer(net: Any, kind: str = "NO") -> Any:
    return SimpleNamespace(
        model=net,
        args=SimpleNamespace(max_grad_norm=0.5),
        accelerator=SimpleNamespace(distributed_type=SimpleNamespace(name=kind)),
    )


def test_the_answer_of_a_step_comes_with_the_next_row():
    net = model()
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.1)
    stepping = Stepping(trainer(net))
    net(torch.ones(8, 40)).square().mean().backward()
    assert stepping.row(optimiser) == pytest.approx(
        {"optim/max_grad_norm": 0.5, DECAY: 1e-4, HELD: 1.0, MAY: 1.0, WITHOUT: 0.0}
    )
    optimiser.step()
    stepping.after()
    row = stepping.row(optimiser)
    assert row[STILL] == 0.0
    assert row[DELTA] > 0
    stepping.left_out()
    stepping.after()
    assert STILL not in stepping.row(optimiser)


def test_an_optimiser_of_shards_holds_other_tensors_by_design():
    net = model()
    assert HELD not in Stepping(trainer(net, "FSDP")).row(torch.optim.AdamW([torch.nn.Parameter(torch.ones(2))]))
