"""Draws that should be those of a standard normal: each dimension's sums, and what they say of draws that are not."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from firstbreak.monitor.adapters.parts.standardised import noise, plain, squashed
from firstbreak.monitor.normal_draws import (
    AT_ONCE,
    CALM,
    CALM_NATS,
    CERTAIN,
    EIGHTHS,
    FAR,
    LIKELY,
    NEAR,
    ROOM,
    WAYS,
    NormalDraws,
)

NORMAL = NormalDist()


def fed(draws, low=-np.inf, high=np.inf, told=None):
    made = NormalDraws()
    for draw in draws:
        z = np.atleast_1d(np.asarray(draw, np.float64))
        found = made.add(z, np.full(z.shape, low), np.full(z.shape, high))
        if told is not None and found is not None:
            told.append(found)
    return made


def slow_sums(draws):
    """The same sums of one dimension, draw by draw and way by way."""
    ends = [-4.5, -3.0, *(NORMAL.inv_cdf(place / 8) for place in range(1, 8)), 3.0, 4.5, math.inf]
    likely = [NORMAL.cdf(end) for end in ends]
    likely = [after - before for before, after in zip([0.0, *likely], likely, strict=False)]
    far, near = [0.25, 0.08, 0.02], [chance * 8 for chance in likely[-3:]]
    chances = [
        [*far[::-1], *[0.05] * 6, *far],
        [*(one / 30 for one in near[::-1]), *[1 / 30] * 2, 0.4, 0.4, *[1 / 30] * 2, *(one / 30 for one in near)],
        [*far[::-1], 0.35, *[0.05] * 5, *(0.05 * one for one in near)],
        [*(0.05 * one for one in near[::-1]), *[0.05] * 5, 0.35, *far],
    ]
    sums, all_of_them = [0.0] * 4, []
    for z in draws:
        cell = next(place for place, end in enumerate(ends) if z < end)
        sums = [max(0.0, known + math.log(way[cell] / likely[cell])) for known, way in zip(sums, chances, strict=True)]
        all_of_them.append(max(sums))
    return all_of_them


def test_eighths_are_equally_likely_and_every_way_is_a_distribution():
    assert [NORMAL.cdf(edge) for edge in EIGHTHS] == pytest.approx([place / 8 for place in range(1, 8)], abs=1e-8)
    assert LIKELY.sum() == pytest.approx(1)
    assert (np.exp(WAYS) * LIKELY).sum(1) == pytest.approx(np.ones(4))


def test_sums_are_those_of_the_slow_way():
    draws = np.random.default_rng(0).normal(size=400) * np.repeat([1.0, 2.2], 200)
    slow, made = slow_sums(draws), NormalDraws()
    for place, z in enumerate(draws):
        made.add(np.array([z]), np.array([-np.inf]), np.array([np.inf]))
        if place >= CALM:
            assert made.take() == pytest.approx(slow[place])
        assert made.near == (slow[place] >= NEAR)


@pytest.mark.parametrize("seed", range(20))
def test_draws_are_never_certain_to_be_none(seed):
    draws = np.random.default_rng(seed).normal(size=(4000, 3))
    made = fed(draws)
    assert made.known
    assert made.take() < 16


@pytest.mark.parametrize(
    ("change", "within"),
    [
        (lambda z, at: 0 * z, 30),
        (lambda z, at: 3 * z, 60),
        (lambda z, at: z + 1.5, 60),
        (lambda z, at: z - 1.5, 60),
        (lambda z, at: z + 0.1 * np.sqrt(at) * np.sign(np.sin(0.1)), 250),
        (lambda z, at: z[:1].repeat(2), None),
    ],
    ids=["none at all", "wide", "to the right", "to the left", "a walk", "copies of one another"],
)
def test_others_are_told_within_some_steps(change, within):
    rng, told, made = np.random.default_rng(3), [], NormalDraws()
    for at in range(1000):
        z = rng.normal(size=2)
        z = change(z, at - 500) if at >= 500 else z
        if made.add(z, np.full(2, -np.inf), np.full(2, np.inf)) is not None:
            told.append(at - 500)
    assert told[:1] == [] if within is None else 0 < told[0] < within
    assert len(told) <= AT_ONCE


def test_draws_that_were_never_such_are_left_alone():
    told = []
    made = fed(np.zeros(500), told=told)
    assert not made.known
    assert (told, made.take()) == ([], None)
    assert CALM_NATS < CERTAIN


def test_draws_that_are_cut_off_where_a_cell_ends_count_as_if_they_were_not():
    draws = np.random.default_rng(1).normal(size=4000) + np.repeat([0.0, 1.0], 2000)
    inside = draws[np.abs(draws) < FAR[0]]
    end = ROOM + 1e-6
    one, other = fed(inside), fed(np.clip(inside, -end, end), -end, end)
    assert one.take() == other.take()


def test_a_few_draws_where_none_fall_are_enough():
    told = []
    fed([*np.random.default_rng(2).normal(size=200), 5.0, 0.0, -5.5, 0.1, 6.0], told=told)
    assert told


def test_draws_that_a_bound_leaves_no_room_are_left_out():
    assert fed(np.full(500, 0.5), -np.inf, 0.5).take() is None
    assert fed(np.full(500, np.nan)).take() is None


def test_squashed_actions_are_turned_back_to_what_was_drawn():
    rng = np.random.default_rng(0)
    mean, spread, z = rng.normal(size=(5, 2)), rng.uniform(0.1, 1, (5, 2)), rng.normal(size=(5, 2))
    found, low, high = squashed(np.tanh(mean + spread * z), mean, spread)
    assert found == pytest.approx(z.reshape(-1), abs=1e-6)
    assert (low < high).all()
    far, low, high = squashed(np.ones((1, 1)), np.zeros((1, 1)), np.ones((1, 1)))
    assert far == high
    assert math.tanh(high[0]) == pytest.approx(0.9999)


def test_noise_is_what_is_done_less_what_was_meant():
    done, meant = np.array([[0.3, 1.0]]), np.array([[0.1, 0.5]])
    z, low, high = noise(done, meant, [0.1, 0.0], [0.1, 0.25])
    assert z == pytest.approx([1.0, 2.0])
    assert low == pytest.approx([-12.0, -6.0])
    assert high == pytest.approx([8.0, 2.0])
    nothing = noise(done, meant, 0.0, 0.0)
    assert np.isnan(nothing[0]).all()
    assert (nothing[1] == 0).all()


def test_what_nothing_squashes_has_no_bounds():
    z, low, high = plain([[3.0]], [[1.0]], [[2.0]])
    assert (z[0], low[0], high[0]) == (1.0, -np.inf, np.inf)
