"""Weights of reward functions from advantages, against advantages computed as TRL does."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.audit.reading.trl_weights import blocks_of, weights

NAMES = ("a", "b", "c")


def advantages(rewards: np.ndarray, weight: list[float], size: int, scale: str) -> np.ndarray:
    """Per group: less the mean, and divided by the spread of the group, of the batch, or by nothing; in float32."""
    paid = rewards @ np.array(weight)
    groups = paid.reshape(-1, size)
    centred = groups - groups.mean(axis=1, keepdims=True)
    spread = {"group": groups.std(axis=1, ddof=1, keepdims=True), "batch": paid.std(ddof=1), "none": 1.0}[scale]
    return (centred / (spread + (0 if scale == "none" else 1e-4))).reshape(-1).astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("scale", ["group", "batch", "none"])
@pytest.mark.parametrize("weight", [[1, 0, 0], [0, 1, 0], [1, 1, 1], [1, 0.5, 0], [0.2, 1, -0.4]])
def test_the_weights_come_back_up_to_a_factor(scale: str, weight: list[float]) -> None:
    rewards = np.random.default_rng(0).normal(size=(64, 3))
    said = advantages(rewards, weight, 8, scale)
    found = weights(rewards, said, [i // 8 for i in range(64)], NAMES)
    assert found is not None
    assert list(found.values()) == pytest.approx(weight, abs=5e-3)


def test_nothing_is_told_where_every_advantage_is_zero_or_noise() -> None:
    random = np.random.default_rng(1)
    rewards, keys = random.normal(size=(64, 3)), [i // 8 for i in range(64)]
    assert weights(rewards, np.zeros(64), keys, NAMES) is None
    assert weights(rewards, random.normal(size=64), keys, NAMES) is None
    assert weights(rewards, np.full(64, math.nan), keys, NAMES) is None


def test_one_function_needs_no_advantages() -> None:
    assert weights(np.zeros((4, 1)), np.zeros(4), [0, 0, 1, 1], ("a",)) == {"a": 1.0}
    assert weights(np.zeros((4, 0)), np.zeros(4), [0, 0, 1, 1], ()) is None


def test_groups_without_spread_do_not_disturb() -> None:
    rewards = np.random.default_rng(2).normal(size=(32, 2))
    rewards[:8] = 1.0
    found = weights(rewards, advantages(rewards, [1, 0], 8, "group"), [i // 8 for i in range(32)], NAMES[:2])
    assert found == {"a": 1.0, "b": 0.0}


def test_the_same_prompt_twice_in_a_row_is_two_groups() -> None:
    assert blocks_of([1, 1, 2, 2, 2, 2, 3, 3]) == [slice(0, 2), slice(2, 4), slice(4, 6), slice(6, 8)]
    assert blocks_of([1, 2, 2]) == []
    assert blocks_of([]) == []


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.integers(2, 5))
def test_blocks_cover_everything_once(repeats: list[int], size: int) -> None:
    keys = [i for i, n in enumerate(repeats) for _ in range(n * size)]
    covered = [j for block in blocks_of(keys) for j in range(block.start, block.stop)]
    assert covered == list(range(len(keys)))
    assert all(len(set(keys[block])) == 1 for block in blocks_of(keys))
