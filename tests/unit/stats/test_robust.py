"""Twins of `firstbreak.stats.robust`: plain Python, `statistics` and scipy."""

from __future__ import annotations

import itertools
import math
import statistics

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.stats import inflation, inflation_from, lag1, logit, mad, median, quantile, robust_z, safe_log
from tests.unit.stats.processes import many

numbers = st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 6)), min_size=1, max_size=40)
fast = settings(deadline=None, max_examples=60)


@fast
@given(numbers)
def test_median_is_that_of_the_standard_library(values: list[float]) -> None:
    assert median(np.array(values)) == pytest.approx(statistics.median(values), rel=1e-12, abs=1e-12)


@fast
@given(numbers)
def test_mad_is_that_of_scipy(values: list[float]) -> None:
    expected = scipy.stats.median_abs_deviation(values, scale="normal")
    assert mad(np.array(values)) == pytest.approx(expected, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("n", [1, 2, 3, 40, 255, 256, 257, 600, 601])
def test_median_and_quantile_are_those_of_numpy_to_the_bit(n: int) -> None:
    value = np.round(np.random.default_rng(n).standard_normal(n), 2 if n % 2 else 12)
    assert median(value) == float(np.median(value))
    for share in (0.0, 0.05, 0.25, 0.5, 0.75, 0.9, 1.0):
        assert quantile(value, share) == float(np.quantile(value, share))
    value[n // 2] = np.nan
    assert math.isnan(median(value))
    assert math.isnan(quantile(value, 0.25))


def test_median_does_not_change_what_it_is_given() -> None:
    value = np.array([3.0, 1.0, 2.0])
    assert (median(value), quantile(value, 0.5), value.tolist()) == (2.0, 2.0, [3.0, 1.0, 2.0])


def test_nothing_has_no_median_and_no_spread() -> None:
    assert math.isnan(median(np.empty(0)))
    assert math.isnan(quantile(np.empty(0), 0.5))
    assert math.isnan(mad(np.empty(0)))


@fast
@given(numbers, st.floats(0.1, 10), st.floats(-100, 100))
def test_mad_ignores_shifts_and_order_and_follows_scale(values: list[float], scale: float, shift: float) -> None:
    array = np.array(values)
    assert mad(scale * array + shift) == pytest.approx(scale * mad(array), rel=1e-6, abs=1e-6)
    assert mad(array[::-1].copy()) == mad(array)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.45])
def test_a_minority_of_wild_points_cannot_move_median_or_mad_far(share: float) -> None:
    clean = np.random.default_rng(0).standard_normal(200)
    dirty = clean.copy()
    dirty[: int(share * clean.size)] = 1e9
    assert abs(median(dirty)) < 3
    assert mad(dirty) < 10


def test_mad_estimates_the_standard_deviation_of_a_gaussian() -> None:
    assert mad(2.5 * np.random.default_rng(1).standard_normal(20000)) == pytest.approx(2.5, rel=0.03)


@fast
@given(numbers, numbers)
def test_robust_z_is_the_plain_formula(values: list[float], reference: list[float]) -> None:
    spread = 1.4826 * statistics.median([abs(r - statistics.median(reference)) for r in reference])
    expected = [(v - statistics.median(reference)) / max(spread, 0.5) for v in values]
    assert robust_z(np.array(values), np.array(reference), floor=0.5) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_the_floor_keeps_a_constant_reference_from_exploding() -> None:
    assert robust_z(np.array([1.1]), np.full(10, 1.0), floor=0.1) == pytest.approx([1.0])


@fast
@given(numbers)
def test_safe_log_is_finite_and_keeps_the_order_of_magnitudes(values: list[float]) -> None:
    result = safe_log(np.array(values))
    assert np.isfinite(result).all()
    for a, b in zip(values, result, strict=True):
        if a != 0:
            assert b == pytest.approx(math.log(abs(a)), abs=1e-9)
    if 0 in values and any(values):
        assert result.min() < math.log(min(abs(v) for v in values if v)) - 2


@fast
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers(2, 10**6))
def test_logit_is_finite_symmetric_and_inverted_by_the_logistic(fractions: list[float], n: int) -> None:
    array = np.array(fractions)
    result = logit(array, n)
    assert np.isfinite(result).all()
    back = 1 / (1 + np.exp(-result))
    assert back == pytest.approx(np.clip(array, 0.5 / n, 1 - 0.5 / n), rel=1e-6)
    assert logit(1 - array, n) == pytest.approx(-result, rel=1e-4, abs=1e-4)


def slow_lag1(values: list[float]) -> float:
    mean = sum(values) / len(values)
    above = sum((a - mean) * (b - mean) for a, b in itertools.pairwise(values))
    return above / sum((v - mean) ** 2 for v in values)


@fast
@given(st.lists(st.integers(-1000, 1000), min_size=4, max_size=40).filter(lambda v: len(set(v)) > 1))
def test_lag1_is_the_sum_written_out(values: list[int]) -> None:
    array = np.array(values, dtype=float)
    assert lag1(array) == pytest.approx(slow_lag1([float(v) for v in values]), abs=1e-9)
    assert lag1(3 * array + 7) == pytest.approx(lag1(array), abs=1e-9)
    assert lag1(array[::-1].copy()) == pytest.approx(lag1(array), abs=1e-9)
    assert -1 <= lag1(array) <= 1


@pytest.mark.parametrize("level", [0.0, 0.1, 1e9, -3.3])
def test_a_constant_has_no_autocorrelation(level: float) -> None:
    assert lag1(np.full(11, level)) == 0.0
    assert inflation_from(np.full(11, level)) == 1.0


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.6, 0.9])
def test_inflation_is_the_ratio_of_variances_of_the_mean(rho: float) -> None:
    means = [float(x.mean()) for x in many(1500, 400, rho)]
    assert np.var(means) * 400 == pytest.approx(inflation(rho), rel=0.2)


def test_inflation_never_helps_and_stays_finite() -> None:
    assert inflation(-0.9) == 1.0
    assert inflation(1.0) == inflation(0.95) == pytest.approx(39)


@pytest.mark.parametrize("n", [20, 40])
def test_the_corrected_inflation_is_less_biased_than_the_raw_one_on_short_series(n: int) -> None:
    series = list(many(800, n, 0.6))
    raw = np.median([inflation(lag1(x)) for x in series])
    corrected = np.median([inflation_from(x) for x in series])
    assert raw < 0.9 * inflation(0.6)
    assert corrected == pytest.approx(inflation(0.6), rel=0.15)
