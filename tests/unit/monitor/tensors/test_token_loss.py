"""What a loss does to tokens, against a loop over single tokens, and on losses with known faults."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from firstbreak.monitor.tensors import Responses, mixed_prompts, prompt_variety, shares, token_gradients

PAD, END, OTHER_END = 0, 1, 2


def slowly(gradient: Any, ids: Any, paid: Any, ends: Sequence[int], pad: int) -> dict[str, float]:
    """The same shares, token by token, from lists."""
    prompt = padding = every = ended = dropped = weight = agreed = 0.0
    for row, tokens, reward in zip(gradient, ids, paid, strict=True):
        before = len(row) - len(tokens)
        every += sum(map(abs, row))
        prompt += sum(map(abs, row[:before]))
        own = row[before:]
        end = next((i for i, token in enumerate(tokens) if token in ends), None)
        last = max((i for i, token in enumerate(tokens) if token != pad), default=-1)
        if end is not None:
            behind = range(last + 1, len(tokens))
            if pad in ends:  # the first of them ended the response
                behind = behind[1:]
            padding += sum(abs(own[i]) for i in behind if i > end)
        if end is not None and any(own):
            ended += 1
            dropped += own[end] == 0
        pushed = -sum(own)
        if pushed:
            weight += abs(reward)
            agreed += abs(reward) * math.copysign(1, pushed) * (0 if not reward else math.copysign(1, reward))
    return {
        "seq/prompt_loss_frac": prompt / every if every else math.nan,
        "seq/padding_loss_frac": padding / every if every else math.nan,
        "seq/end_untrained_frac": dropped / ended if ended else math.nan,
        "advantage/reward_agreement": agreed / weight if weight else math.nan,
    }


def table(of: st.SearchStrategy[Any], rows: int, width: int) -> st.SearchStrategy[list[list[Any]]]:
    return st.lists(st.lists(of, min_size=width, max_size=width), min_size=rows, max_size=rows)


@given(st.data(), st.integers(1, 6), st.integers(1, 7), st.integers(0, 3), st.sampled_from([PAD, END]))
def test_shares_agree_with_a_loop_over_tokens(data: st.DataObject, rows: int, width: int, before: int, pad: int):
    some = st.sampled_from([-2.0, -0.5, 0.0, 0.0, 1.0, 3.0])
    gradient, ids = data.draw(table(some, rows, before + width)), data.draw(table(st.integers(0, 5), rows, width))
    paid = data.draw(st.lists(some, min_size=rows, max_size=rows))
    responses = Responses(torch.tensor(ids), torch.tensor([END, OTHER_END]), pad, torch.tensor(paid))
    found = {k: float(v) for k, v in shares(token_gradients(torch.tensor(gradient), responses)).items()}
    assert found == pytest.approx(slowly(gradient, ids, paid, (END, OTHER_END), pad), rel=1e-5, abs=1e-6, nan_ok=True)


def policy_loss(change: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]) -> dict[str, float]:
    """The loss of REINFORCE on four responses to one prompt of two tokens, with a fault or none, seen from outside."""
    ids = torch.tensor([[5, 6, END, PAD], [7, END, PAD, PAD], [5, 5, 5, END], [8, 9, 8, 9]])
    logps = torch.randn(4, 6, generator=torch.Generator().manual_seed(0), requires_grad=True)
    paid = torch.tensor([1.0, -1.0, 0.5, -0.5])
    behind = (ids == END).int().cumsum(1) - (ids == END).int() > 0
    mask = torch.cat([torch.zeros(4, 2), (~behind).float()], 1)
    advantage, mask = change(paid, mask)
    (gradient,) = torch.autograd.grad(-(advantage[:, None] * logps * mask).sum() / mask.sum(), logps)
    responses = Responses(ids, torch.tensor([END]), PAD, paid)
    return {k: float(v) for k, v in shares(token_gradients(gradient, responses)).items()}


def test_a_right_loss_trains_responses_with_their_ends_and_follows_the_reward():
    assert policy_loss(lambda paid, mask: (paid, mask)) == {
        "seq/prompt_loss_frac": 0.0,
        "seq/padding_loss_frac": 0.0,
        "seq/end_untrained_frac": 0.0,
        "advantage/reward_agreement": 1.0,
    }


@pytest.mark.parametrize(
    ("change", "metric", "least"),
    [
        (lambda paid, mask: (-paid, mask), "advantage/reward_agreement", -1.0),
        (lambda paid, mask: (paid, torch.ones_like(mask)), "seq/prompt_loss_frac", 0.3),
        (lambda paid, mask: (paid, torch.ones_like(mask)), "seq/padding_loss_frac", 0.1),
        (lambda paid, mask: (paid, mask * torch.tensor([1, 1, 1, 1, 0.0, 0.0])), "seq/end_untrained_frac", 0.6),
    ],
    ids=["sign", "prompt", "padding", "end"],
)
def test_a_wrong_loss_shows(change: Any, metric: str, least: float):
    found = policy_loss(change)[metric]
    assert found == least if least < 0 else found >= least


@given(st.data(), st.integers(1, 5), st.integers(1, 4), st.integers(1, 3))
def test_mixed_prompts_agree_with_a_loop(data: st.DataObject, groups: int, size: int, width: int):
    row = st.lists(st.integers(0, 1), min_size=width, max_size=width)
    rows = data.draw(st.lists(row, min_size=groups * size, max_size=groups * size))
    mixed = [len({tuple(r) for r in rows[i * size : (i + 1) * size]}) > 1 for i in range(groups)]
    found = mixed_prompts(torch.tensor(rows), size)
    assert float(found["group/mixed_prompt_fraction"]) == pytest.approx(sum(mixed) / groups)


@given(st.data(), st.integers(1, 6), st.integers(1, 3), st.integers(1, 3))
def test_variety_counts_different_prompts(data: st.DataObject, groups: int, size: int, width: int):
    rows = data.draw(table(st.integers(0, 1), groups * size, width))
    found = prompt_variety(torch.tensor(rows), size)
    assert float(found["data/distinct_prompt_frac"]) == pytest.approx(len({tuple(r) for r in rows}) / groups)


def test_no_more_prompts_are_asked_for_than_the_data_hold():
    ids = torch.arange(4).repeat(8)[:, None]  # 16 groups of two alike, of four prompts
    ids = ids.sort(0).values.reshape(4, 8, 1).transpose(0, 1).reshape(16, 2, 1).reshape(32, 1)
    name = "data/distinct_prompt_frac"
    assert float(prompt_variety(ids, 2)[name]) == 4 / 16
    assert float(prompt_variety(ids, 2, 4)[name]) == 1.0
    assert float(prompt_variety(ids, 2, 8)[name]) == 0.5
    assert float(prompt_variety(ids, 2, 100)[name]) == 4 / 16
    assert float(prompt_variety(ids, 2, 3)[name]) == 1.0
