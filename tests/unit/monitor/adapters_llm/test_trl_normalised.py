"""Advantages against those that settings make of rewards."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor

from firstbreak.monitor.adapters.parts.trl.normalised import (
    EPSILON,
    RESIDUAL,
    SCALED,
    SIDE,
    SIZE,
    beside,
    scale_of,
    wanted,
)

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


@pytest.mark.parametrize("scaled", [False, True])
def test_the_mean_of_the_others_is_taken_off_as_rloo_does(scaled: bool):
    rewards = torch.tensor([1.0, 0.0, 0.5, math.nan, 2.0, 2.0, -1.0, 0.3])
    groups = rewards.reshape(2, 4)
    own = [
        [row[i] - np.mean([x for j, x in enumerate(row) if j != i and not math.isnan(x)]) for i in range(4)]
        for row in groups.tolist()
    ]
    a = np.array(own).reshape(-1)
    if scaled:
        a = (a - np.nanmean(a)) / (np.nanstd(a, ddof=1) + EPSILON)
    found = wanted(rewards, 4, SCALED if scaled else "others")
    assert found.numpy() == pytest.approx(np.nan_to_num(a), abs=1e-6)


def test_the_scale_is_read_from_the_trainer():
    accelerator = SimpleNamespace(num_processes=1)
    assert scale_of(SimpleNamespace(accelerator=accelerator, scale_rewards="batch")) == "batch"
    assert scale_of(SimpleNamespace(accelerator=accelerator, normalize_advantages=False)) == "others"
    assert scale_of(SimpleNamespace(accelerator=accelerator, normalize_advantages=True)) == SCALED
    assert scale_of(SimpleNamespace(accelerator=accelerator)) is None
    assert scale_of(SimpleNamespace(accelerator=SimpleNamespace(num_processes=2), scale_rewards="none")) is None
