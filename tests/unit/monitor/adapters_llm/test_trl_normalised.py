"""Advantages against those that settings make of rewards."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from firstbreak.monitor.adapters.trl_normalised import RESIDUAL, SIDE, SIZE, beside, wanted

REWARDS = torch.tensor([1.0, 0, 0, 1, 1.1, 0.1, 0.1, 0.1, 1, 1, 1, 1])


def by_hand(rewards: Tensor) -> Tensor:
    table = rewards.reshape(-1, 4)
    return ((table - table.mean(1, keepdim=True)) / (table.std(1, keepdim=True) + 1e-4)).reshape(-1)


def off(advantages: Tensor, scale: str = "group") -> dict[str, float]:
    return {name: float(value) for name, value in beside(advantages, REWARDS, 4, scale).items()}


def test_what_the_settings_ask_for_is_no_residual():
    found = off(by_hand(REWARDS))
    assert found[RESIDUAL] < 1e-3
    assert found[SIZE] == pytest.approx(1, abs=1e-3)
    assert math.isnan(found[SIDE])


def test_each_scale_is_its_own():
    for scale in ("group", "batch", "none"):
        assert off(wanted(REWARDS, 4, scale).float(), scale)[RESIDUAL] < 1e-3
    assert off(wanted(REWARDS, 4, "none").float(), "group")[SIZE] < 0.7


def test_another_order_or_sign_is_a_residual():
    assert off(-by_hand(REWARDS))[RESIDUAL] == 1.0
    assert off(by_hand(REWARDS).reshape(3, 4).flip(1).reshape(-1))[RESIDUAL] > 0.3


def test_a_clamp_leaves_one_side_only():
    assert off(by_hand(REWARDS).clamp(min=0))[SIDE] == -1.0
    assert off(by_hand(REWARDS).clamp(max=0))[SIDE] == 1.0


def test_a_filter_of_groups_is_no_residual():
    filtered = by_hand(REWARDS)
    filtered[:4] = 0
    found = off(filtered)
    assert found[RESIDUAL] < 1e-3
    assert math.isnan(found[SIDE])


def test_rewards_that_differ_by_their_rounding_only_say_nothing():
    rewards = 1 - 5e-7 * REWARDS
    shaky = by_hand(rewards.double()).float() + 0.5 * torch.rand(12)
    assert all(math.isnan(value) for value in beside(shaky, rewards, 4, "group").values())
