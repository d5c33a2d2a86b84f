"""Twins of `firstbreak.stats.trend`: scipy and brute force; false alarms by Monte Carlo."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.stats import compare, linear_trend, monotone_z, rank_correlation
from tests.unit.stats.processes import many

fast = settings(deadline=None, max_examples=60)
integers = st.lists(st.integers(-1000, 1000), min_size=4, max_size=40)


@fast
@given(integers)
def test_the_line_is_scipys(values: list[int]) -> None:
    value = np.array(values, dtype=float)
    step = np.cumsum(np.arange(1, value.size + 1, dtype=float))
    fit = scipy.stats.linregress(step, value)
    trend = linear_trend(step, value)
    assert trend.start == pytest.approx(fit.intercept + fit.slope * step[0], abs=1e-6)
    assert trend.end == pytest.approx(fit.intercept + fit.slope * step[-1], abs=1e-6)
    assert trend.change == pytest.approx(trend.end - trend.start, abs=1e-6)
    # Autocorrelation may only enlarge the error.
    if np.ptp(value) > 0:
        assert trend.error >= fit.stderr * (step[-1] - step[0]) * (1 - 1e-6)


@fast
@given(integers, st.floats(0.01, 100), st.floats(-1000, 1000), st.floats(0.01, 100))
def test_trend_ignores_shift_and_units(values: list[int], scale: float, shift: float, pace: float) -> None:
    value = np.array(values, dtype=float)
    step = np.arange(value.size, dtype=float)
    plain = linear_trend(step, value)
    if plain.error < 1e-6:
        return
    moved = linear_trend(pace * step + 5, scale * value + shift)
    assert moved.z == pytest.approx(plain.z, rel=1e-4, abs=1e-6)
    assert moved.change == pytest.approx(scale * plain.change, rel=1e-6, abs=1e-6 * scale)
    assert linear_trend(step, -value).z == pytest.approx(-plain.z, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_too_few_points_have_no_trend(n: int) -> None:
    assert linear_trend(np.arange(n, dtype=float), np.arange(n, dtype=float)).z == 0.0


def test_no_extent_has_no_trend() -> None:
    assert linear_trend(np.full(9, 3.0), np.arange(9.0)).z == 0.0


def test_an_exact_line_is_certain_and_a_constant_is_flat() -> None:
    step = np.arange(50.0)
    assert linear_trend(step, 2 * step).z > 1e6
    assert abs(linear_trend(step, np.full(50, 0.1)).z) < 1


@fast
@given(st.lists(st.integers(-1000, 1000), min_size=8, max_size=30), st.lists(st.integers(-1000, 1000), min_size=8))
def test_compare_is_antisymmetric_and_scale_free(first: list[int], second: list[int]) -> None:
    a, b = np.array(first, dtype=float), np.array(second, dtype=float)
    plain = compare(a, b)
    assert plain.difference == pytest.approx(float(np.median(b) - np.median(a)))
    assert compare(b, a).z == pytest.approx(-plain.z, rel=1e-9, abs=1e-12)
    if plain.error > 1e-6:
        assert compare(5 * a + 100, 5 * b + 100).z == pytest.approx(plain.z, rel=1e-6, abs=1e-9)


def test_compare_states_the_error_of_a_difference_of_medians() -> None:
    """Twin: the spread of the difference over many repetitions of the same experiment."""
    halves = [(x[:40], x[40:]) for x in many(1500, 80, 0.0)]
    actual = np.std([np.median(b) - np.median(a) for a, b in halves])
    stated = np.median([compare(a, b).error for a, b in halves])
    assert stated == pytest.approx(actual, rel=0.1)


def test_under_eight_points_nothing_is_claimed() -> None:
    assert compare(np.zeros(7), np.full(100, 9.0)).z == 0.0
    assert compare(np.zeros(8), np.full(8, 9.0)).z > 100


# Measured with 20,000 series each: see the docstrings. The bounds below leave room for 1,000 series only.
FALSE_ALARMS = [
    # n, rho, most |z| > 4 allowed for the line, for the comparison of halves
    (30, 0.0, 0.004, 0.008),
    (100, 0.0, 0.003, 0.004),
    (300, 0.0, 0.003, 0.003),
    (30, 0.8, 0.040, 0.020),
    (100, 0.8, 0.015, 0.008),
    (300, 0.8, 0.006, 0.003),
]


@pytest.mark.parametrize(("n", "rho", "line", "halves"), FALSE_ALARMS)
def test_false_alarms_stay_rare(n: int, rho: float, line: float, halves: float) -> None:
    step = np.arange(n, dtype=float)
    series = list(many(1000, n, rho, seed=2))
    assert np.mean([abs(linear_trend(step, x).z) > 4 for x in series]) <= line
    assert np.mean([abs(compare(x[: n // 2], x[n // 2 :]).z) > 4 for x in series]) <= halves


@pytest.mark.parametrize("n", [30, 100])
def test_a_real_change_is_seen(n: int) -> None:
    step, jump = np.arange(n, dtype=float), (np.arange(n) >= n // 2) * 4.0
    ramp = np.linspace(0, 6, n)
    series = list(many(200, n, 0.0, seed=3))
    assert np.mean([linear_trend(step, x + ramp).z > 4 for x in series]) > 0.95
    assert np.mean([compare(x[: n // 2], (x + jump)[n // 2 :]).z > 4 for x in series]) > 0.95


@fast
@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=4, max_size=40))
def test_rank_correlation_is_scipys(pairs: list[tuple[int, int]]) -> None:
    x, y = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    got = rank_correlation(x, y)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert got == 0.0
        return
    assert got == pytest.approx(float(scipy.stats.spearmanr(x, y).statistic), abs=1e-9)
    order = np.random.default_rng(0).permutation(x.size)
    assert rank_correlation(x[order], y[order]) == pytest.approx(got, abs=1e-9)
    assert rank_correlation(np.exp(x / 4), y) == pytest.approx(got, abs=1e-9)


def test_rank_correlation_needs_four_pairs_of_equal_length() -> None:
    assert rank_correlation(np.arange(3.0), np.arange(3.0)) == 0.0
    assert rank_correlation(np.arange(5.0), np.arange(6.0)) == 0.0


@fast
@given(st.lists(st.integers(-4, 4), min_size=6, max_size=14))
def test_the_monotone_statistic_counts_pairs_and_its_variance_is_that_of_all_orders(values: list[int]) -> None:
    value = np.array(values, dtype=float)
    score = sum((b > a) - (b < a) for i, a in enumerate(values) for b in values[i + 1 :])
    # Twin: the variance of the score over random orders of the same values.
    rng = np.random.default_rng(0)
    orders = np.array([rng.permutation(value) for _ in range(1500)])
    scores = np.triu(np.sign(orders[:, None, :] - orders[:, :, None]), 1).sum(axis=(1, 2))
    if scores.std() == 0:
        assert monotone_z(value) == 0
        return
    expected = 0.0 if score == 0 else (score - np.sign(score)) / scores.std()
    assert monotone_z(value) == pytest.approx(expected, rel=0.15)


@fast
@given(st.lists(st.integers(-9, 9), min_size=0, max_size=30))
def test_the_monotone_statistic_ignores_the_scale_and_turns_with_the_sign(values: list[int]) -> None:
    value = np.array(values, dtype=float)
    assert monotone_z(np.exp(value / 3)) == pytest.approx(monotone_z(value))
    assert monotone_z(-value) == pytest.approx(-monotone_z(value))
    assert monotone_z(value[:5]) == 0


def test_the_monotone_statistic_rarely_speaks_of_noise() -> None:
    found = np.array([monotone_z(row) for row in many(4000, 10, 0.0)])
    assert (np.abs(found) >= 3).mean() < 0.004
