"""Tokens past the clip of a loss: PPO's own, and one that never clips."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from firstbreak.monitor.adapters.parts.trl.clipping import bounds, past_the_clip

LIMITS = (0.8, 1.2)
OLD = torch.zeros(2, 3)
NEW = torch.tensor([[0.5, 0.1, -0.5], [0.5, -0.1, -0.5]])
ADVANTAGES = torch.tensor([1.0, -1.0])
"""Past the clip by hand: the first token of the first response, and the last of the second."""


def trained(clip: bool, **changes: Any) -> list[float] | None:
    new = NEW.clone().requires_grad_()
    ratio = (new - OLD).exp()
    bound = ratio.clamp(*LIMITS) if clip else ratio
    a = ADVANTAGES[:, None]
    (-torch.min(ratio * a, bound * a)).mean().backward()
    inputs = {"old_per_token_logps": OLD, "advantages": ADVANTAGES, "completion_mask": torch.ones(2, 3), **changes}
    assert new.grad is not None
    found = past_the_clip(new.grad, new.detach(), inputs, LIMITS)
    return None if found is None else found.tolist()


def test_the_clip_of_ppo_leaves_no_gradient_past_it():
    assert trained(clip=True) == [2.0, 0.0]


def test_a_loss_without_a_clip_trains_past_it():
    assert trained(clip=False) == [2.0, 2.0]


def test_padding_is_not_counted():
    assert trained(clip=False, completion_mask=torch.tensor([[0.0, 1, 1], [1, 1, 1]])) == [1.0, 1.0]


@pytest.mark.parametrize(
    "changes",
    [{"old_per_token_logps": None}, {"old_per_token_logps": torch.zeros(2, 2)}, {"advantages": torch.zeros(2, 3)}],
)
def test_what_has_no_ratio_of_tokens_is_not_judged(changes: dict[str, Any]):
    assert trained(clip=True, **changes) is None


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, (0.8, 1.28)),
        ({"beta": 0.04}, None),
        ({"loss_type": "cispo"}, None),
        ({"args": SimpleNamespace(importance_sampling_level="sequence")}, None),
        ({"epsilon_low": None}, None),
    ],
)
def test_only_a_plain_clip_is_judged(settings: dict[str, Any], expected: tuple[float, float] | None):
    usual = {"loss_type": "dapo", "beta": 0.0, "epsilon_low": 0.2, "epsilon_high": 0.28, "args": SimpleNamespace()}
    assert bounds(SimpleNamespace(**{**usual, **settings})) == expected
