"""Advantages beside the rewards that they come from, by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.monitor.adapters.parts.trl.advantages import (
    DROPPED,
    DROPPED_LENGTH,
    GROUPS_DROPPED,
    OFFSET,
    ORDER,
    against_rewards,
)
from firstbreak.monitor.adapters.parts.trl.loss import LossTap
from firstbreak.monitor.core import Monitor

PAID = st.lists(st.lists(st.sampled_from([0.0, 0.1, 1.0, 1.1]), min_size=4, max_size=4), min_size=2, max_size=5)


def grpo(rewards: torch.Tensor) -> torch.Tensor:
    """Advantages as TRL takes them."""
    return ((rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-4)).reshape(-1)


def held(a: torch.Tensor, rewards: torch.Tensor, lengths: torch.Tensor | None = None) -> dict[str, float]:
    lengths = torch.ones(a.numel()) if lengths is None else lengths
    return {name: float(x) for name, x in against_rewards(a, rewards.reshape(-1), lengths, rewards.shape[1]).items()}


@given(PAID)
def test_advantages_by_definition_are_centred_in_order_and_whole(rows: list[list[float]]):
    rewards = torch.tensor(rows)
    found = held(grpo(rewards), rewards)
    if max(max(row) - min(row) for row in rows) == 0:
        assert all(math.isnan(value) for value in found.values())
    else:
        assert found[OFFSET] < 1e-3
        assert found[ORDER] == pytest.approx(1.0)
        assert found[DROPPED] == 0.0
        assert math.isnan(found[DROPPED_LENGTH])


REWARDS = torch.tensor([[1.0, 0.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0]])


def test_rewards_as_advantages_have_no_baseline():
    assert held(REWARDS.reshape(-1), REWARDS)[OFFSET] == pytest.approx(1.0)


def test_advantages_of_other_responses_are_out_of_order():
    a = grpo(REWARDS).reshape(3, 4)
    found = held(torch.stack([-a[0], a[1], a[2]]).reshape(-1), REWARDS)
    # By hand: distances sum to 2 in the first group, to 1.5 in the last.
    assert found[ORDER] == pytest.approx((1.5 - 2.0) / 3.5)
    assert found[OFFSET] < 1e-3


def test_a_response_without_its_advantage_is_dropped_and_its_length_told():
    a = grpo(REWARDS)
    a[0] = a[11] = 0.0
    lengths = torch.ones(12)
    lengths[[0, 11]] = 6.0
    found = held(a, REWARDS, lengths)
    assert found[DROPPED] == pytest.approx(2 / 8)
    assert found[DROPPED_LENGTH] == pytest.approx(6.0)
    assert math.isnan(found[OFFSET])  # every group that could tell lost one


def test_a_group_that_is_left_out_as_a_whole_is_filtered_and_not_dropped():
    a = grpo(REWARDS)
    a[:4] = 0.0
    found = held(a, REWARDS)
    assert (found[DROPPED], found[ORDER]) == (0.0, pytest.approx(1.0))


def tap(**args: Any) -> LossTap:
    settings = SimpleNamespace(num_iterations=1, steps_per_generation=1, gradient_accumulation_steps=1)
    vars(settings).update(args)
    return LossTap(SimpleNamespace(args=settings, accelerator=SimpleNamespace(scaler=None)), Monitor(algorithm="GRPO"))


@pytest.mark.parametrize(
    ("args", "old", "expected"),
    [
        ({"num_iterations": 4}, None, {"policy/old_logprob_frac": 0.0}),
        ({"steps_per_generation": 2}, None, {"policy/old_logprob_frac": 0.0}),
        ({}, None, {}),
        ({"steps_per_generation": 2, "gradient_accumulation_steps": 2}, None, {}),
    ],
)
def test_old_log_probabilities_are_missed_where_the_settings_need_them(
    args: dict[str, int], old: Any, expected: dict[str, float]
):
    seen = tap(**args)
    seen._logps = torch.zeros(2, 3)
    seen._note_ratios({"completion_mask": torch.ones(2, 3), "old_per_token_logps": old})
    row = {name: value for name, value in seen.row().items() if name == "policy/old_logprob_frac"}
    assert row == expected


def test_old_log_probabilities_that_are_there_are_seen():
    seen = tap(num_iterations=2)
    seen._logps = torch.zeros(2, 3)
    seen._note_ratios({"completion_mask": torch.ones(2, 3), "old_per_token_logps": torch.zeros(2, 3)})
    assert seen.row()["policy/old_logprob_frac"] == 1.0


@pytest.mark.parametrize(("reduce", "weight"), [(torch.mean, 0.6), (torch.sum, 12 * 0.6)])
def test_the_weight_of_a_loss_tells_a_mean_from_a_sum(reduce: Any, weight: float):
    seen = tap()
    seen.trainer.pad_token_id, seen.trainer.eos_token_ids = 0, [1]
    logps = torch.zeros(4, 3, requires_grad=True)
    advantages = torch.tensor([2.0, -1.0, -1.0, 0.8])
    inputs = {"completion_ids": torch.full((4, 3), 5), "prompt_ids": torch.full((4, 2), 5), "advantages": advantages}
    logps.register_hook(seen._following(inputs))
    reduce(-logps * advantages[:, None]).backward()
    assert seen.row()["policy/loss_weight"] == pytest.approx(weight)  # mean of |A| over the largest: 1.2 / 2


def test_a_scaled_loss_is_not_weighed():
    seen = tap()
    seen.trainer.accelerator.scaler = object()
    seen._largest, seen._sums = [torch.tensor(1.0)], {"all": torch.tensor(70000.0)}
    assert seen._weight() == {}


def test_a_filter_that_drops_all_live_groups_is_told_from_one_that_drops_some():
    a = grpo(REWARDS).reshape(3, 4)
    assert held(a.reshape(-1), REWARDS)[GROUPS_DROPPED] == 0.0
    assert held(torch.stack([0 * a[0], a[1], a[2]]).reshape(-1), REWARDS)[GROUPS_DROPPED] == 0.5
    assert held(torch.stack([0 * a[0], a[1], 0 * a[2]]).reshape(-1), REWARDS)[GROUPS_DROPPED] == 1.0
