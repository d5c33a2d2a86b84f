"""Draws that are uniform are hardly ever far from it; those of a part of a buffer soon are."""

from __future__ import annotations

import math

import numpy as np
import pytest

from firstbreak.monitor.exchange.uniform_draws import CALM, METRIC, UniformDraws, nats

HELD, BATCH = 2000, 64


def drawn(bounds, draws=None, seed=0, position=0):
    """Take one batch below each of some bounds."""
    generator, draws = np.random.default_rng(seed), draws or UniformDraws()
    found = []
    for bound in bounds:
        draws.add(generator.integers(bound, size=BATCH), position, HELD)
        found.append(draws.take().get(METRIC, math.nan))
    return found


def slow(shares):
    """The distance of the empirical distribution at every share, from either side."""
    far = 0.0
    for share in shares:
        below, upto = np.mean(shares < share), np.mean(shares <= share)
        far = max(far, abs(share - below), abs(share - upto))
    return max(0.0, 2 * len(shares) * far**2 - math.log(2))


@pytest.mark.parametrize("count", [1, 7, 300])
def test_it_is_the_largest_distance_number_by_number(count):
    shares = np.random.default_rng(count).random(count) ** 2
    assert nats(shares) == pytest.approx(slow(shares))


def test_uniform_draws_stay_far_below_what_counts():
    most = max(np.nanmax(drawn([HELD] * 60, seed=seed)) for seed in range(40))
    assert 2 < most < 16


def test_nothing_is_said_before_enough_was_drawn():
    assert [math.isnan(found) for found in drawn([HELD] * 6)] == [True] * (CALM // BATCH) + [False] * 2


@pytest.mark.parametrize(("bound", "within"), [(HELD // 2, 2), (int(0.8 * HELD), 10)])
@pytest.mark.parametrize("position", [0, 700])
def test_a_part_that_is_left_out_shows_after_few_draws(bound, within, position):
    found = drawn([HELD] * 20 + [bound] * within, position=position)
    assert max(found[4:20]) < 16
    assert found[-1] > 24


def test_who_prefers_some_rows_from_the_first_draw_on_does_so_on_purpose():
    draws = UniformDraws()
    assert all(map(math.isnan, drawn([HELD // 2] * 10, draws)))
    assert not draws.known
    assert all(map(math.isnan, drawn([HELD // 8] * 10, draws)))


def test_draws_without_replacement_are_nearer_still():
    generator, draws = np.random.default_rng(0), UniformDraws()
    for _ in range(10):
        order = generator.permutation(HELD)
        for start in range(0, HELD, BATCH):
            draws.add(order[start : start + BATCH], 0, HELD)
            assert draws.take().get(METRIC, 0.0) < 12


def test_a_buffer_of_few_rows_is_left_alone():
    draws = UniformDraws()
    for _ in range(20):
        draws.add(np.zeros(BATCH, np.intp), 0, 32)
    assert draws.take() == {}
