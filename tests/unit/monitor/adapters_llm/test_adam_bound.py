"""Adam's moments held against each other, in PyTorch's own optimiser."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from firstbreak.monitor.adapters.parts.weights.adam_bound import BROKEN, AdamBound


def stepped(kind: Any, scale: float, steps: int = 30, **settings: Any) -> Any:
    rng = torch.Generator().manual_seed(0)
    weight = torch.nn.Parameter(torch.zeros(64, 8))
    optimiser = kind([weight], lr=1e-3, **settings)
    for step in range(steps):
        # From all of one sign, which is the worst case of the bound, to noise, with jumps of the scale.
        weight.grad = scale * (1.0 + step % 3 * torch.randn(64, 8, generator=rng)) * 10.0 ** (step % 5 - 2)
        optimiser.step()
    return optimiser


@pytest.mark.parametrize("kind", [torch.optim.Adam, torch.optim.AdamW, torch.optim.NAdam])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e4])
@pytest.mark.parametrize("betas", [(0.9, 0.999), (0.0, 0.99), (0.95, 0.95)])
def test_the_bound_holds_whatever_the_gradients(kind: Any, scale: float, betas: tuple[float, float]):
    assert AdamBound().look(stepped(kind, scale, betas=betas)) == {BROKEN: 0.0}


def test_second_moments_that_underflow_break_it():
    optimiser = stepped(torch.optim.AdamW, 1e-4)
    for state in optimiser.state.values():
        state["exp_avg_sq"][:32] = 0
    assert AdamBound().look(optimiser)[BROKEN] == pytest.approx(0.5, abs=0.1)


def test_a_beta_that_was_another_one_before_is_allowed_for():
    optimiser = stepped(torch.optim.AdamW, 1.0, steps=1)
    for group in optimiser.param_groups:
        group["betas"] = (0.9, 0.5)
    assert AdamBound().look(optimiser, (0.9, 0.999)) == {BROKEN: 0.0}


def test_optimisers_without_both_moments_are_left_alone():
    assert AdamBound().look(stepped(torch.optim.SGD, 1.0)) == {}
    assert AdamBound().look(torch.optim.AdamW([torch.nn.Parameter(torch.zeros(2))])) == {}
