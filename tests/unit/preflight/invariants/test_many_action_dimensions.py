"""Log-probs of policies with many action dimensions, and networks with fewer parameters than rows."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.distributions import Normal

from firstbreak.check import Look, checks_of, find_check, look_at
from firstbreak.preflight.invariants.bench import Bench
from firstbreak.preflight.invariants.pieces import Pieces
from firstbreak.preflight.invariants.rows import fit

WAYS = {
    "sum": lambda each: each.sum(-1),
    "mean": lambda each: each.mean(-1),
    "first": lambda each: each[..., 0],
    "shifted": lambda each: each.sum(-1) + 0.4,
}


def linear(dimensions: int, way: str, inputs: int = 4) -> Pieces:
    """PPO with one linear layer each."""
    torch.manual_seed(0)
    actor, critic = nn.Linear(inputs, dimensions), nn.Linear(inputs, 1)
    spread = nn.Parameter(torch.linspace(-1.0, 0.0, dimensions))
    actor.register_parameter("spread", spread)
    optimiser = torch.optim.Adam([*actor.parameters(), *critic.parameters()], 1e-3)

    def log_prob(obs: Any, action: Any) -> Any:
        return WAYS[way](Normal(actor(obs), spread.exp()).log_prob(action))

    def act(obs: Any) -> Any:
        action = Normal(actor(obs), spread.exp()).sample()
        return action, log_prob(obs, action)

    def minibatch() -> Any:
        obs = torch.randn(64, inputs)
        with torch.no_grad():
            action, old = act(obs)
        rest = {"advantage": torch.randn(64), "value": torch.zeros(64), "value_target": torch.randn(64)}
        return {"obs": obs, "action": action, "log_prob": old, **rest}

    def losses(b: Any) -> Any:
        ratio = (log_prob(b["obs"], b["action"]) - b["log_prob"]).exp()
        gain = torch.minimum(ratio * b["advantage"], ratio.clamp(0.8, 1.2) * b["advantage"])
        error = (critic(b["obs"]).squeeze(-1) - b["value_target"]) ** 2
        return {"policy": -gain.mean(), "value": error.mean()}

    def update(b: Any) -> None:
        optimiser.zero_grad()
        sum(losses(b).values()).backward()
        optimiser.step()

    return Pieces(
        algorithm="PPO", actor=actor, critics=[critic], optimisers=[optimiser], minibatch=minibatch, losses=losses,
        update=update, log_prob=log_prob, act=act, value=lambda obs: critic(obs).squeeze(-1),
        settings={"clip_range": 0.2, "gamma": 0.99},
    )  # fmt: skip


def density(dimensions: int, way: str) -> Look:
    return look_at(find_check("log-prob-not-a-density"), Bench(linear(dimensions, way)))


@pytest.mark.parametrize("dimensions", [2, 6, 7, 8, 17, 24])
def test_the_sum_over_dimensions_is_a_density(dimensions: int) -> None:
    found = density(dimensions, "sum")
    assert found.symptom is None, found.symptom
    assert found.skip is None, found.skip


@pytest.mark.parametrize("way", ["mean", "first"])
@pytest.mark.parametrize("dimensions", [2, 6, 7, 8, 17, 24])
def test_the_mean_or_one_of_them_is_none(dimensions: int, way: str) -> None:
    found = density(dimensions, way).symptom
    assert found is not None
    assert f"({dimensions} action dimensions)" in found.message


def test_a_small_shift_counts_in_few_dimensions_only() -> None:
    assert density(6, "shifted").symptom is not None
    assert density(8, "shifted").symptom is None


def test_beyond_that_it_says_that_it_cannot_look() -> None:
    found = density(30, "mean")
    assert found.skip is not None
    assert "30 action dimensions" in found.skip.reason


@pytest.mark.parametrize("dimensions", [1, 2])
def test_sound_trainers_with_few_parameters_are_not_blamed(dimensions: int) -> None:
    """Five parameters of a linear critic cannot tell twelve rows apart: that is no distorted loss."""
    pieces = linear(dimensions, "sum")
    looks = [look_at(one, Bench(pieces)) for one in checks_of("invariants")]
    assert not [look.error for look in looks if look.error]
    assert not [look.symptom for look in looks if look.symptom is not None and look.check != "learning-rate-exhausted"]
    reasons = {look.check: look.skip.reason for look in looks if look.skip is not None}
    assert "5 parameters cannot tell the weights of 12 rows apart" in reasons["value-loss-rows-distorted"]


def test_the_same_trainer_with_enough_parameters_is_judged() -> None:
    found = look_at(find_check("value-loss-rows-distorted"), Bench(linear(2, "sum", inputs=16)))
    assert found.skip is None, found.skip
    assert found.symptom is None


def test_weights_of_more_rows_than_parameters_are_never_sure() -> None:
    rows = torch.randn(12, 5, dtype=torch.float64)
    assert not fit(torch.ones(12, dtype=torch.float64) @ rows, rows).sure
    wide = torch.randn(12, 50, dtype=torch.float64)
    assert fit(torch.ones(12, dtype=torch.float64) @ wide, wide).sure
