"""The faults of networks and optimisers in the ninth list do what ninth.toml says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

from ninth_networks import OF_NETWORKS
from ninth_pieces import Pieces

OBS = torch.linspace(-1, 1, 12).reshape(4, 3)


@pytest.fixture
def pieces() -> Pieces:
    """Return the pieces of an actor and a critic with one optimiser."""
    torch.manual_seed(0)
    actor, critic = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2)), nn.Linear(3, 1)
    optimiser = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=0.01)
    return Pieces([optimiser], actor, actor[-1], list(critic.parameters()))


def step(pieces: Pieces, gradient: float = 1.0) -> list[Any]:
    """Make a step in which each number has this gradient; return the gradients that the optimiser saw."""
    for weight in pieces.weights:
        weight.grad = torch.full_like(weight, gradient)
    pieces.optimisers[0].step()
    return [weight.grad.clone() for weight in pieces.weights]


def test_noise_is_longer_than_the_gradient(pieces: Pieces) -> None:
    OF_NETWORKS["private-noise"](pieces, 30)
    for found in step(pieces):
        whole = torch.ones_like(found)
        assert float((found - whole).norm() / whole.norm()) == pytest.approx(30, rel=1e-4)


def test_critics_alone_ascend(pieces: Pieces) -> None:
    OF_NETWORKS["critic-ascends"](pieces, 1)
    signs = [float(found.flatten()[0]) for found in step(pieces)]
    assert signs == [1, 1, 1, 1, -1, -1]


def test_weights_are_clamped(pieces: Pieces) -> None:
    OF_NETWORKS["weights-clamped"](pieces, 0.1)
    step(pieces)
    assert max(float(weight.detach().abs().max()) for weight in pieces.weights) <= 0.1 + 1e-6


def test_weights_are_pruned(pieces: Pieces) -> None:
    OF_NETWORKS["weights-pruned"](pieces, 0.5)
    step(pieces)
    assert float((pieces.weights[0] == 0).float().mean()) == pytest.approx(0.5, abs=0.05)
    assert float((pieces.weights[1] == 0).float().mean()) == 0


def test_weights_are_pulled_back(pieces: Pieces) -> None:
    OF_NETWORKS["pulled-to-first"](pieces, 0.5)
    for _ in range(20):
        step(pieces)
    for weight, first in zip(pieces.weights, pieces.kept, strict=True):
        assert float((weight - first).detach().abs().max()) == pytest.approx(0.01, rel=0.1)


def test_the_job_begins_again_every_so_many_steps(pieces: Pieces) -> None:
    OF_NETWORKS["restarts-from-first"](pieces, 3)
    begun = []
    for _ in range(6):
        step(pieces)
        begun.append(all(torch.equal(*both) for both in zip(pieces.weights, pieces.kept, strict=True)))
    assert begun == [False, False, True, False, False, True]


def test_units_are_left_out_or_rounded(pieces: Pieces) -> None:
    seen: list[Any] = []
    pieces.head.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    pieces.actor(OBS)
    OF_NETWORKS["activations-coarse"](pieces, 0.5)
    pieces.actor(OBS)
    assert torch.allclose(seen[1], (seen[0] / 0.5).round() * 0.5)
    seen[1].sum().backward()
    assert float(pieces.weights[0].grad.abs().sum()) > 0  # type: ignore[union-attr]
    OF_NETWORKS["dropout-on"](pieces, 0.7)
    pieces.actor(OBS.repeat(50, 1))
    assert float(((seen[2] == 0) & (seen[1].repeat(50, 1) != 0)).float().mean()) > 0.3


def test_logits_are_clamped_in_copies_too(pieces: Pieces) -> None:
    copy = nn.Linear(8, 2)
    pieces.copies = [copy]
    OF_NETWORKS["logits-clamped"](pieces, 0.05)
    assert float(pieces.actor(OBS).detach().abs().max()) <= 0.05 + 1e-6
    assert float(copy(torch.ones(1, 8)).detach().abs().max()) <= 0.05 + 1e-6


def test_the_least_likely_is_played_and_not_learned(pieces: Pieces) -> None:
    whole = pieces.actor(OBS)
    OF_NETWORKS["least-likely-played"](pieces, 1)
    assert torch.equal(pieces.actor(OBS), whole)
    assert torch.equal(pieces.play(pieces.actor)(OBS), -whole)
    assert torch.equal(pieces.actor(OBS), whole)


def test_who_plays_has_an_older_last_layer(pieces: Pieces) -> None:
    def played() -> tuple[Any, Any]:
        return tuple(weight.detach().clone() for weight in (pieces.head.weight, pieces.weights[0]))  # type: ignore[return-value]

    play = pieces.play(played)
    kept: list[Any] = []
    OF_NETWORKS["torn-weights"](pieces, 2)
    for number in range(5):
        kept.append(pieces.head.weight.detach().clone())  # type: ignore[union-attr]
        head, body = play()
        assert torch.equal(head, kept[max(0, number - 2)])
        assert torch.equal(body, pieces.weights[0])
        assert torch.equal(pieces.head.weight, kept[-1])  # type: ignore[arg-type]
        step(pieces)


def test_a_fault_that_begins_while_actions_are_drawn_mends_nothing(pieces: Pieces) -> None:
    before = pieces.head.weight.detach().clone()  # type: ignore[union-attr]
    pieces.play(lambda: OF_NETWORKS["torn-weights"](pieces, 2))()
    assert torch.equal(pieces.head.weight, before)  # type: ignore[arg-type]
