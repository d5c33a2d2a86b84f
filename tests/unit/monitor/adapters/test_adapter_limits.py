"""Ends of many steps at once say of a limit what they say one by one; rows that are drawn are compared as tensors."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from firstbreak.monitor.adapters.parts.drawn import METRIC as DRAWN
from firstbreak.monitor.adapters.parts.drawn_tensors import compared
from firstbreak.monitor.adapters.parts.limits import Limits
from firstbreak.monitor.exchange.limit import METRIC, Limit


def played(lengths, copies=2, lost=()):
    """Ends [T, N] of copies whose episodes have these lengths; those whose number is in `lost` end by themselves."""
    over, ended = [], []
    for number, length in enumerate(lengths):
        over += [0.0] * (length - 1) + [1.0]
        ended += [0.0] * (length - 1) + [float(number in lost)]
    return np.array([over] * copies).T, np.array([ended] * copies).T


def one_by_one(over, ended):
    """The slow twin: the least share that one copy's `Limit` says, asked step by step as an environment is."""
    limit, least = Limit(), 1.0
    for done, itself in zip(over[:, 0], ended[:, 0], strict=True):
        share = limit.step(terminated=bool(itself), truncated=bool(done) and not itself)
        if done:
            limit.reset()
        least = least if share is None else min(least, share)
    return least


@pytest.mark.parametrize(
    ("lengths", "lost", "share"),
    [
        ([9] * 6 + [5] * 4, (), 5 / 9),
        ([9] * 10, (), 1.0),
        ([3] + [9] * 6 + [7] + [9] * 6, (), 1.0),
        ([9] * 6 + [4, 6, 3, 5], (6, 7, 8, 9), 1.0),
        ([9, 8, 7, 5, 5, 5, 5, 5, 5, 5], (), 1.0),
        ([5] * 5 + [9] * 5, (), 1.0),
    ],
    ids=["shorter", "as it was", "begun in the middle, one short", "lost early", "never one length", "longer"],
)
def test_the_share_is_that_of_steps_one_by_one(lengths, lost, share):
    over, ended = played(lengths, lost=lost)
    limits, halves = Limits(), len(over) // 2
    limits.add(over[:halves], ended[:halves])
    limits.add(over[halves:], ended[halves:])
    assert limits.take() == {METRIC: pytest.approx(share)}
    assert one_by_one(over, ended) == pytest.approx(share)


def test_steps_that_nobody_saw_shorten_no_limit():
    over, ended = played([9] * 8)
    limits = Limits()
    limits.add(over[:48], ended[:48])
    for start in range(50, 70, 5):  # of each stretch of five only some were seen
        limits.forget()
        limits.add(over[start : start + 3], ended[start : start + 3])
    assert limits.take() == {METRIC: 1.0}


def test_rows_are_compared_as_they_are_alone():
    held = {"obs": torch.arange(12.0).reshape(4, 3), "reward": torch.tensor([0.0, 1.0, 2.0, 3.0])}
    drawn = {name: column.clone() for name, column in held.items()}
    assert compared(drawn, held) == {DRAWN: 0.0}
    drawn["obs"][1, 2] += 1
    drawn["reward"][3] = 0
    assert compared(drawn, held) == {DRAWN: 0.5}
    twin = [any(not torch.equal(drawn[name][row], held[name][row]) for name in held) for row in range(4)]
    assert twin == [False, True, False, True]


def test_rows_whose_place_is_not_known_are_left_out():
    held, drawn = {"reward": torch.zeros(4)}, {"reward": torch.tensor([0.0, 1.0, 1.0, 0.0])}
    assert compared(drawn, held, known=torch.tensor([True, True, False, True])) == {DRAWN: pytest.approx(1 / 3)}
    assert compared(drawn, held, known=torch.zeros(4, dtype=torch.bool)) == {}


def test_columns_of_another_form_are_not_compared():
    assert compared({"obs": torch.ones(4, 2)}, {"obs": torch.zeros(4, 3)}) == {}
    assert compared({"obs": torch.ones(4, 2)}, {}) == {}
