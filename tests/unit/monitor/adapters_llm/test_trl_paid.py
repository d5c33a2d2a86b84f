"""What RLOO pays in all: its reward, cut off at a range, less the KL to the reference."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from firstbreak.monitor.adapters.parts.trl.advantages import ORDER, against_rewards
from firstbreak.monitor.adapters.parts.trl.paid import Paid

MASK = torch.tensor([[1, 1, 0], [1, 1, 1], [1, 0, 0], [1, 1, 1]])
POLICY, REFERENCE = torch.full((4, 3), -1.0), torch.tensor([[-1.0, -3.0, 9.0]] * 4)
REWARDS = torch.tensor([0.5, 0.5, 0.4, 7.0])


def trainer(**more: Any) -> Any:
    return SimpleNamespace(normalize_advantages=False, beta=0.5, ref_model=object(), **more)


def in_all(owner: Any, calls: Any = None, rewards: torch.Tensor = REWARDS) -> torch.Tensor | None:
    paid = Paid(owner)
    paid.begin()
    reference = getattr(owner, "ref_model", None)
    for model, logps in ((object(), POLICY), (reference, REFERENCE)) if calls is None else calls:
        paid.note(model, logps)
    return paid.in_all(rewards, {"completion_mask": MASK})


def same(found: torch.Tensor | None, wanted: torch.Tensor | None) -> bool:
    return found is not None and wanted is not None and torch.equal(found, wanted)


def test_the_divergence_of_a_response_is_taken_off_its_reward():
    kl = torch.tensor([0.0 + 2.0, 2.0 - 10.0, 0.0, 2.0 - 10.0])
    assert same(in_all(trainer()), REWARDS - 0.5 * kl)


def test_the_order_of_the_calls_does_not_matter_where_the_reference_is_a_model_of_its_own():
    owner = trainer()
    other = in_all(owner, ((owner.ref_model, REFERENCE), (object(), POLICY)))
    assert same(in_all(owner), other)


def test_rewards_are_cut_off_at_the_range():
    owner = trainer(reward_clip_range=(0.45, 1.0))
    owner.beta = 0.0
    assert same(in_all(owner), torch.tensor([0.5, 0.5, 0.45, 1.0]))


@pytest.mark.parametrize("calls", [(), ((object(), POLICY),), ((object(), POLICY[:2]), (object(), REFERENCE))])
def test_nothing_is_said_where_the_scores_are_not_known(calls: Any):
    assert in_all(trainer(), calls) is None


def test_nothing_is_said_of_rewards_of_several_processes():
    assert in_all(trainer(), rewards=torch.cat([REWARDS, REWARDS])) is None


def test_grpo_pays_what_its_functions_give():
    owner = SimpleNamespace(beta=0.04, ref_model=object(), scale_rewards="group")
    assert in_all(owner, ()) is REWARDS


def test_advantages_are_in_the_order_of_what_is_paid_in_all():
    rewards = torch.tensor([0.6, 0.5, 0.4, 0.3])  # the divergence turns the order of both groups
    paid = in_all(trainer(), rewards=rewards)
    assert paid is not None
    groups = paid.reshape(-1, 2)
    a, lengths = (groups - groups.mean(1, keepdim=True)).reshape(-1), MASK.sum(1)
    assert float(against_rewards(a, paid, lengths, 2)[ORDER]) == 1.0
    assert float(against_rewards(a, rewards, lengths, 2)[ORDER]) == -1.0
