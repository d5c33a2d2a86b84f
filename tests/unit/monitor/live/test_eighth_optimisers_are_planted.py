"""The faults of optimisers in the eighth list do what eighth.toml says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

from eighth_optimisers import OF_OPTIMISERS, rate_below_nothing


def stepped(optimiser: Any, weight: Any, gradient: float) -> None:
    """Make a step in which each number of `weight` has this gradient."""
    weight.grad = torch.full_like(weight, gradient)
    optimiser.step()


@pytest.fixture
def one() -> tuple[Any, Any]:
    """Return a weight and its optimiser."""
    weight = torch.nn.Parameter(torch.linspace(-1, 1, 5))
    return weight, torch.optim.Adam([weight], lr=0.01)


def test_moments_are_swapped(one: tuple[Any, Any]) -> None:
    OF_OPTIMISERS["moments-swapped"]([one[1]], 1)
    assert one[1].param_groups[0]["betas"] == (0.999, 0.9)


def test_small_moments_become_nothing(one: tuple[Any, Any]) -> None:
    weight, optimiser = one
    stepped(optimiser, weight, 1e-3)
    assert float(optimiser.state[weight]["exp_avg_sq"][0]) > 0
    OF_OPTIMISERS["moments-in-halves"]([optimiser], 1)
    before = weight.detach().clone()
    stepped(optimiser, weight, 1e-3)
    assert float(optimiser.state[weight]["exp_avg_sq"].max()) == 0
    assert float((weight.detach() - before).abs().max()) == pytest.approx(0.01, rel=0.1)
    for _ in range(3):
        stepped(optimiser, weight, 1e-3)
    assert float(optimiser.state[weight]["exp_avg"][0]) > 0


def test_a_stranger_is_averaged_in(one: tuple[Any, Any]) -> None:
    weight, optimiser = one
    before = weight.detach().clone()
    OF_OPTIMISERS["averaged-with-a-stranger"]([optimiser], 0.5)
    stepped(optimiser, weight, 0.0)
    stranger = 2 * weight.detach() - before
    assert not torch.allclose(stranger, before, atol=0.01)
    for _ in range(30):
        stepped(optimiser, weight, 0.0)
    assert torch.allclose(weight, stranger, atol=1e-5)


def test_the_rate_goes_below_nothing(one: tuple[Any, Any]) -> None:
    weight, optimiser = one
    done = [0.0]
    rate_below_nothing([optimiser], 3, lambda: done[0])
    for at, rate in ((0.0, 0.01), (0.25, 0.0), (1.0, -0.03)):
        done[0] = at
        stepped(optimiser, weight, 1.0)
        assert optimiser.param_groups[0]["lr"] == pytest.approx(rate)
