"""Gradients kept, lost, left over and altered, on a real model and optimiser."""

from __future__ import annotations

import pytest
import torch

from firstbreak.monitor.adapters.parts.weights.kept_gradients import ALTERED, LEFT, LOST, KeptGradients


def updates(*, zero_each: bool = False, never_zero: bool = False, noise: float = 0.0, clip: float = 0.0):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    kept, row = KeptGradients(list(model.parameters())), dict[str, float]()
    for _ in range(3):
        for _ in range(4):
            if zero_each:
                optimiser.zero_grad()
            kept.before_loss()
            model(torch.randn(16, 8)).square().mean().backward()
            kept.after_backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        for weight in model.parameters():
            assert weight.grad is not None
            weight.grad += noise * torch.randn_like(weight.grad)
        row = kept.row()
        optimiser.step()
        if not never_zero:
            optimiser.zero_grad()
    return row


@pytest.mark.parametrize("clip", [0.0, 0.01])
def test_a_loop_as_it_should_be_keeps_them(clip: float):
    assert updates(clip=clip) == pytest.approx({LOST: 0.0, LEFT: 0.0, ALTERED: 0.0}, abs=1e-3)


def test_zeroing_before_each_micro_batch_loses_them():
    assert updates(zero_each=True)[LOST] == 1.0


def test_what_is_not_zeroed_is_left():
    assert updates(never_zero=True)[LEFT] > 0.3


def test_noise_alters_the_direction():
    assert updates(noise=1.0)[ALTERED] > 0.3
