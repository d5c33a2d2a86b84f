"""Advantages against what they are made of, and updates against advantages: by slow loops."""

from __future__ import annotations

import math
import statistics

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.monitor import tensors as t
from tests.unit.monitor.tensors.calls import numbers

fast = settings(max_examples=60, deadline=None)


def double(values: list[float] | tuple[float, ...]) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


@fast
@given(st.integers(0, 10**6), st.integers(2, 9), st.integers(1, 3), st.floats(0, 1), st.floats(0, 1))
def test_advantages_are_held_against_what_the_loop_makes_of_rewards_and_values(
    seed: int, steps: int, copies: int, gamma: float, decay: float
) -> None:
    made = torch.Generator().manual_seed(seed)
    reward, value = (torch.randn(steps, copies, generator=made) for _ in range(2))
    follows = (torch.rand(steps, copies, generator=made) < 0.7).float()
    last = torch.randn(copies, generator=made)
    raw = torch.zeros(steps, copies)
    for n in range(copies):  # the textbook's sum, from the end
        carried, following = 0.0, float(last[n])
        for i in range(steps - 1, -1, -1):
            on = float(follows[i, n])
            carried = float(reward[i, n]) + gamma * on * following - float(value[i, n]) + gamma * decay * on * carried
            raw[i, n], following = carried, float(value[i, n])
    named = {"discount": gamma, "decay": decay}
    found = numbers(t.gae_residual(raw, reward, value, follows[:-1], **named))
    assert found["advantage/gae_residual"] == pytest.approx(0, abs=1e-4)
    wrong = raw + torch.randn(steps, copies, generator=made)
    missing = [
        float(reward[i, n] - value[i, n] - wrong[i, n])
        + gamma * float(follows[i, n]) * float(value[i + 1, n] + decay * wrong[i + 1, n])
        for i in range(steps - 1)
        for n in range(copies)
    ]
    size = math.sqrt(statistics.fmean(float(x) ** 2 for x in wrong.flatten()))
    size += 1e-3 * math.sqrt(statistics.fmean(float(x) ** 2 for x in value.flatten()))
    wanted = math.sqrt(statistics.fmean(x * x for x in missing)) / size
    found = numbers(t.gae_residual(wrong, reward, value, follows[:-1], **named))
    assert found["advantage/gae_residual"] == pytest.approx(wanted, rel=1e-3)


@fast
@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 1), st.floats(-5, 1)), min_size=3, max_size=200))
def test_whether_better_actions_became_likelier(rows: list[tuple[float, float, float]]) -> None:
    gains, before, now = zip(*rows, strict=True)
    change = [a - b for a, b in zip(now, before, strict=True)]
    found = numbers(t.follow(double(gains), double(before), double(now)))["policy/advantage_follow"]
    sizes = [math.sqrt(sum(x * x for x in column)) for column in (gains, change)]
    if min(sizes) > 1e-3:
        together = sum(a * b for a, b in zip(gains, change, strict=True))
        assert found == pytest.approx(together / (sizes[0] * sizes[1]), abs=1e-6)


def test_advantages_of_a_critic_that_foresees_all_are_rounding_and_no_fault() -> None:
    value = torch.full((50, 1), 100.0)
    reward = torch.full((50, 1), 1.0)
    noise = 1e-5 * torch.randn(50, 1, generator=torch.Generator().manual_seed(0))
    found = t.gae_residual(noise, reward, value, torch.ones(49, 1), discount=0.99, decay=0.95)
    assert float(found["advantage/gae_residual"]) < 1e-3
