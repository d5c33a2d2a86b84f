"""Twins of `firstbreak.stats.level`: plain sorting."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.stats.level import RECENT, level, opening, sustained_jump
from tests.unit.stats.processes import many

fast = settings(deadline=None, max_examples=60)
numbers = st.lists(st.integers(-1000, 1000).map(float), min_size=1, max_size=200)


def middle(values: list[float]) -> float:
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2


@fast
@given(numbers)
def test_the_level_is_the_median_of_the_end_within_the_range(values: list[float]) -> None:
    got = level(np.array(values))
    recent = middle(values[-max(8, len(values) // 8) :])
    assert (got.recent, got.best, got.worst) == (recent, max(values), min(values))
    if max(values) > min(values):
        assert got.shortfall == pytest.approx((max(values) - recent) / (max(values) - min(values)))
        assert 0 <= got.shortfall <= 1
        assert 0 <= got.spread <= 1
    else:
        assert math.isnan(got.shortfall)
        assert math.isnan(got.spread)


@fast
@given(numbers, st.floats(0.1, 10), st.floats(-100, 100))
def test_shortfall_and_rise_ignore_the_unit(values: list[float], scale: float, shift: float) -> None:
    plain, moved = level(np.array(values)), level(scale * np.array(values) + shift)
    np.testing.assert_allclose(moved.shortfall, plain.shortfall, rtol=1e-6, atol=1e-9)
    if abs(plain.rise) < 1e6:
        assert moved.rise == pytest.approx(plain.rise, rel=1e-4, abs=1e-6)


def test_a_climb_rises_and_a_plateau_does_not() -> None:
    assert level(np.linspace(0, 1, 64)).rising
    assert not level(np.linspace(1, 0, 64)).rising
    assert not level(np.concatenate([np.linspace(0, 1, 64), np.ones(200)])).rising
    assert level(np.arange(2 * RECENT - 1.0)).rise == 0


def test_white_noise_seldom_seems_to_rise() -> None:
    assert np.mean([level(x).rising for x in many(600, 64, 0.0)]) < 0.06


def test_nothing_has_no_level() -> None:
    got = level(np.empty(0))
    assert math.isnan(got.recent)
    assert not got.rising
    assert math.isnan(opening(np.empty(0)))


@fast
@given(numbers, st.integers(1, 9))
def test_opening_is_the_median_of_the_first_points(values: list[float], points: int) -> None:
    assert opening(np.array(values), points) == middle(values[:points])


def brute_jump(values: list[float], factor: float, points: int, history: int) -> int | None:
    """Every place tried in turn."""
    for place in range(history, len(values) - points + 1):
        before = float(np.percentile(values[max(0, place - 256) : place], 90))
        window = values[place : place + points]
        if min(window) >= factor * max(before, 1e-300) and min(window) >= factor * middle(values[:history]):
            return place
    return None


@fast
@given(
    st.lists(st.sampled_from([1.0, 1.1, 2.0, 9.0]), min_size=1, max_size=30),
    st.lists(st.sampled_from([1.0, 5.0, 20.0]), max_size=30),
    st.integers(1, 4),
)
def test_a_sustained_jump_is_the_first_that_brute_force_finds(
    before: list[float], after: list[float], points: int
) -> None:
    values = before + after
    got = sustained_jump(np.array(values), 4.0, points, history=8)
    assert (got[0] if got else None) == brute_jump(values, 4.0, points, 8)


def test_a_single_wild_point_is_no_sustained_jump() -> None:
    values = np.ones(60)
    values[30] = 1e6
    assert sustained_jump(values, 10.0, 2) is None
    values[40:] = 100.0
    assert sustained_jump(values, 10.0, 2) == (40, 1.0)
