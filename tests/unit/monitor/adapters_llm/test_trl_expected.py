"""The gradient that settings ask for, against losses written out by hand, right and wrong ones."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from firstbreak.monitor.adapters.parts.trl.expected import (
    RESIDUAL,
    SIZE,
    compared,
    described,
    expected,
    own_mask,
    residual,
)

PAD = 0
IDS = torch.tensor([[5, 6, 7, 1, 0], [5, 1, 0, 0, 0], [6, 7, 8, 9, 5]])
MASK = torch.tensor([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0], [1, 1, 1, 1, 1]])
A = torch.tensor([1.0, -2.0, 0.5])
Loss = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def trainer(kind: str, **changes: Any) -> Any:
    usual = {
        "loss_type": kind, "epsilon_low": 0.2, "epsilon_high": 0.2, "beta": 0.0, "max_completion_length": 6,
        "current_gradient_accumulation_steps": 2, "accelerator": SimpleNamespace(num_processes=1),
        "args": SimpleNamespace(delta=None, steps_per_generation=2),
    }  # fmt: skip
    return SimpleNamespace(**{**usual, **changes})


def clipped(new: Tensor, old: Tensor, a: Tensor, _: Tensor) -> Tensor:
    ratio = (new - old).exp()
    return -torch.min(ratio * a[:, None], ratio.clamp(0.8, 1.2) * a[:, None])


def measured(loss: Loss, divide: Callable[[Tensor, Tensor], Tensor], kind: str, **changes: Any) -> dict[str, float]:
    torch.manual_seed(0)
    old = -torch.rand(IDS.shape)
    new = (old + 0.3 * torch.randn(IDS.shape)).requires_grad_()
    ref = old - 0.1
    divide(loss(new, old, A, ref) * MASK, MASK).backward()
    inputs = {
        "completion_ids": IDS, "completion_mask": MASK, "advantages": A, "old_per_token_logps": old,
        "ref_per_token_logps": ref, "num_items_in_batch": torch.tensor(22.0),
    }  # fmt: skip
    wanted = expected(new.detach(), inputs, trainer(kind, **changes), own_mask(inputs, PAD, False))
    assert new.grad is not None
    assert wanted is not None
    return {name: float(value) for name, value in residual(compared(new.grad, wanted)).items()}


def by_response(term: Tensor, mask: Tensor) -> Tensor:
    return (term.sum(1) / mask.sum(1)).mean() / 2


@pytest.mark.parametrize(
    ("kind", "divide"),
    [
        ("grpo", by_response),
        ("bnpo", lambda term, mask: term.sum() / mask.sum() / 2),
        ("dr_grpo", lambda term, _: term.sum() / (3 * 6) / 2),
        ("dapo", lambda term, _: term.sum() / 22),
    ],
)
def test_the_published_losses_have_the_gradient_that_is_expected(kind: str, divide: Any):
    assert measured(clipped, divide, kind) == pytest.approx({RESIDUAL: 0.0, SIZE: 1.0}, abs=1e-3)


def test_the_anchor_is_part_of_it():
    def anchored(new: Tensor, old: Tensor, a: Tensor, ref: Tensor) -> Tensor:
        return clipped(new, old, a, ref) + 3 * ((ref - new).exp() - (ref - new) - 1)

    assert measured(anchored, by_response, "grpo", beta=3.0)[RESIDUAL] < 1e-3
    assert measured(anchored, by_response, "grpo")[RESIDUAL] > 0.1


def only(column: int) -> Loss:
    def loss(new: Tensor, old: Tensor, a: Tensor, ref: Tensor) -> Tensor:
        keep = torch.zeros(new.shape[1])
        keep[column] = 1
        return clipped(new, old, a, ref) * keep

    return loss


def later(new: Tensor, old: Tensor, a: Tensor, ref: Tensor) -> Tensor:
    return clipped(new, old, a, ref) * (torch.arange(new.shape[1]) > 0)


@pytest.mark.parametrize("loss", [only(0), later, lambda n, o, a, r: clipped(n, o, -a, r)])
def test_other_tokens_or_signs_are_a_residual(loss: Loss):
    assert measured(loss, by_response, "grpo")[RESIDUAL] > 0.2


def test_another_divisor_is_a_residual_or_another_size():
    assert measured(clipped, lambda term, _: term.sum() / 22, "grpo")[RESIDUAL] > 0.1
    assert measured(clipped, lambda term, _: term.sum(), "dapo")[SIZE] == pytest.approx(22)


def test_holes_in_a_mask_are_the_responses_own_tokens():
    late = {"completion_ids": IDS, "completion_mask": MASK * torch.tensor([0, 1, 1, 1, 1])}
    assert torch.equal(own_mask(late, PAD, False), MASK.float())
    gone = {"completion_ids": IDS, "completion_mask": MASK * torch.tensor([[1], [1], [0]])}
    assert torch.equal(own_mask(gone, PAD, False), MASK.float())
    assert torch.equal(own_mask(gone, PAD, True), gone["completion_mask"].float())


@pytest.mark.parametrize(
    "changes",
    [{"loss_type": "vespo"}, {"top_entropy_quantile": 0.2}, {"off_policy_mask_threshold": 0.5}, {"tools": ["a"]}],
)
def test_losses_with_masks_of_their_own_are_not_described(changes: dict[str, Any]):
    assert described(trainer("dapo"))
    assert not described(SimpleNamespace(**{**vars(trainer("dapo")), **changes}))
