"""Twins of `firstbreak.stats.intervals`: scipy and brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.stats import iqm, mean_interval

fast = settings(deadline=None, max_examples=80)
numbers = st.lists(st.integers(-1000, 1000).map(float), min_size=2, max_size=60)


@fast
@given(numbers)
def test_the_interval_is_students(values: list[float]) -> None:
    mean, lo, hi = mean_interval(np.array(values))
    assert mean == pytest.approx(sum(values) / len(values))
    error = scipy.stats.sem(values)
    half = scipy.stats.t.ppf(0.975, len(values) - 1) * error
    assert hi - mean == pytest.approx(half, rel=3e-3, abs=1e-9)
    assert mean - lo == pytest.approx(half, rel=3e-3, abs=1e-9)


@pytest.mark.parametrize("n", [3, 10, 60])
def test_the_interval_holds_the_mean_in_95_of_100(n: int) -> None:
    rng = np.random.default_rng(n)
    held = 0
    for _ in range(2000):
        _, lo, hi = mean_interval(rng.standard_normal(n) + 3)
        held += lo <= 3 <= hi
    assert held / 2000 == pytest.approx(0.95, abs=0.015)


def test_one_value_bounds_nothing() -> None:
    assert mean_interval(np.array([4.0])) == (4.0, float("-inf"), float("inf"))
    assert math.isnan(mean_interval(np.empty(0))[0])


@fast
@given(numbers, st.floats(0.1, 10), st.floats(-100, 100))
def test_iqm_is_scipys_trimmed_mean(values: list[float], scale: float, shift: float) -> None:
    array = np.array(values)
    assert iqm(array) == pytest.approx(float(scipy.stats.trim_mean(array, 0.25)), abs=1e-9)
    assert iqm(array[::-1].copy()) == pytest.approx(iqm(array))
    assert iqm(scale * array + shift) == pytest.approx(scale * iqm(array) + shift, rel=1e-6, abs=1e-6)
    assert array.min() <= iqm(array) <= array.max()


def test_iqm_of_nothing_is_nothing() -> None:
    assert math.isnan(iqm(np.empty(0)))
