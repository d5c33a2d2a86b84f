"""Sums of streams, differences with intervals, and the cost of drawing again: against slow twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from firstbreak.errors import InputError
from firstbreak.monitor.groups import resampling_cost
from firstbreak.monitor.groups.tally import Moments, difference, t95

VALUES = st.lists(st.floats(-100, 100), min_size=8, max_size=40)


def moments(values: list[float]) -> Moments:
    found = Moments()
    for value in values:
        found.add(value)
    return found


@pytest.mark.parametrize("freedom", [7, 8.5, 20, 300, 1e6])
def test_t95_is_students_quantile(freedom: float) -> None:
    assert t95(freedom) == pytest.approx(float(stats.t.ppf(0.975, freedom)), abs=1e-4)


@given(VALUES, VALUES)
def test_the_difference_is_welchs(one: list[float], other: list[float]) -> None:
    gap, lo, hi = difference(moments(one), moments(other))
    assert gap == pytest.approx(float(np.mean(one) - np.mean(other)), abs=1e-9)
    if np.var(one) + np.var(other) < 1e-9:
        return
    twin = stats.ttest_ind(one, other, equal_var=False).confidence_interval(0.95)
    assert (lo, hi) == pytest.approx((float(twin.low), float(twin.high)), rel=1e-3, abs=1e-6)


def test_the_interval_covers_as_often_as_it_says() -> None:
    random = np.random.default_rng(1)
    hits = 0
    for _ in range(600):
        _, lo, hi = difference(moments(random.normal(1, 1, 10).tolist()), moments(random.normal(0, 3, 15).tolist()))
        hits += lo <= 1.0 <= hi
    assert 0.93 <= hits / 600 <= 0.97


def test_what_is_not_finite_is_passed_over_and_few_values_give_no_interval() -> None:
    found = moments([1.0, math.nan, math.inf, 3.0])
    assert (found.n, found.mean, found.variance) == (2, 2.0, 2.0)
    assert math.isnan(difference(found, found)[1])
    assert math.isnan(Moments().known)


def test_two_constants_differ_by_exactly_that() -> None:
    assert difference(moments([2.0] * 8), moments([1.0] * 8)) == (1.0, 1.0, 1.0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.integers(2, 16))
def test_the_cost_is_the_sum_written_out(rates: list[float], size: int) -> None:
    cost = resampling_cost(rates, size)
    silent = sum(p**size + (1 - p) ** size for p in rates) / len(rates)
    assert cost.silent_frac == pytest.approx(silent)
    assert cost.at_mean_silent_frac <= silent + 1e-12
    assert cost.draws_per_kept >= 1.0


def test_draws_are_those_of_a_simulation() -> None:
    random = np.random.default_rng(0)
    rates = np.array([0.05, 0.5, 0.9])
    groups = random.random((30_000, 8)) < random.choice(rates, size=(30_000, 1))
    kept = (groups.any(axis=1) & ~groups.all(axis=1)).mean()
    assert resampling_cost(rates.tolist(), 8).draws_per_kept == pytest.approx(1 / kept, rel=0.02)


def test_hopeless_prompts_can_be_drawn_for_ever() -> None:
    assert resampling_cost(0.0, 8).draws_per_kept == math.inf
    assert resampling_cost([0.0, 1.0, 0.5], 2).hopeless_frac == pytest.approx(2 / 3)


@pytest.mark.parametrize(("rates", "size"), [([], 8), ([1.2], 8), ([math.nan], 8), (0.5, 1)])
def test_nonsense_is_refused(rates: list[float], size: int) -> None:
    with pytest.raises(InputError):
        resampling_cost(rates, size)
