"""Twins of the aggregates and their intervals: SciPy and slow loops over the same bootstrap draws."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.errors import InputError
from firstbreak.evaluation.statistics import (
    IQM,
    MEAN,
    SingleSeedError,
    UnequalRunsError,
    interval,
    measured_coverage,
    optimality_gap,
)
from firstbreak.evaluation.statistics.coverage import SHAPES
from firstbreak.evaluation.statistics.intervals import ENOUGH, ends, resampling

fast = settings(deadline=None, max_examples=40)
RNG = np.random.default_rng(3)
SCORES = RNG.normal(size=(23, 4)) + np.arange(4)


@fast
@given(st.lists(st.lists(st.integers(-50, 50), min_size=7, max_size=7), min_size=1, max_size=5))
def test_the_interquartile_mean_is_scipys_trimmed_mean(rows: list[list[int]]) -> None:
    scores = np.array(rows, float).T
    expected = scipy.stats.trim_mean(scores, proportiontocut=0.25, axis=None)
    assert float(IQM.value(tuple(scores.T))) == pytest.approx(expected, abs=1e-9)


def test_mean_and_gap_weigh_tasks_alike() -> None:
    tasks = ([1.0, 2.0], [10.0, 20.0, 30.0])
    assert float(MEAN.value([np.array(t) for t in tasks])) == pytest.approx((1.5 + 20) / 2)
    gap = optimality_gap(15.0).value([np.array(t) for t in tasks])
    assert float(gap) == pytest.approx(((14 + 13) / 2 + (5 + 0 + 0) / 3) / 2)


@pytest.mark.parametrize("aggregate", [IQM, MEAN, optimality_gap(1.0)], ids=lambda a: a.name)
def test_percentiles_are_those_of_a_slow_stratified_bootstrap(aggregate) -> None:  # type: ignore[no-untyped-def]
    found = interval(SCORES, aggregate, method="percentile", reps=300, seed=5)
    draws = resampling([23] * 4, 300, 5)
    values = [
        float(aggregate.value([np.array([SCORES[i, k] for i in draws[k][rep]]) for k in range(4)]))
        for rep in range(300)
    ]
    assert found.lo == pytest.approx(np.percentile(values, 2.5), abs=1e-9)
    assert found.hi == pytest.approx(np.percentile(values, 97.5), abs=1e-9)


def test_percentiles_of_one_task_are_scipys_bootstrap_up_to_its_own_draws() -> None:
    values = SCORES[:, 0]
    draws = resampling([23], 999, 0)[0]
    made = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=999, method="percentile", random_state=np.random.default_rng(1)
    ).confidence_interval
    found = interval(values, MEAN, method="percentile", reps=999)
    assert found.lo == pytest.approx(np.percentile(values[draws].mean(axis=1), 2.5), abs=1e-9)
    assert found.lo == pytest.approx(made.low, abs=0.08)
    assert found.hi == pytest.approx(made.high, abs=0.08)


def test_the_t_interval_of_one_task_mean_is_students() -> None:
    values = SCORES[:6, 1]
    found = interval(values, MEAN, reps=200_000)
    expected = scipy.stats.t.interval(0.95, 5, loc=values.mean(), scale=scipy.stats.sem(values))
    assert found.method == "t"
    assert (found.lo, found.hi) == pytest.approx(expected, rel=0.01)


def test_one_noisy_task_among_calm_ones_leaves_few_degrees_of_freedom() -> None:
    noisy = {"noisy": [0.0, 9.0, 4.0], "calm": [1.0, 1.01, 1.02], "calmer": [1.0, 1.001, 1.002]}
    found = interval(noisy, MEAN, reps=4000)
    alone = scipy.stats.sem(noisy["noisy"]) / 3
    assert found.hi - found.value == pytest.approx(scipy.stats.t.ppf(0.975, 2) * alone, rel=0.1)


@pytest.mark.parametrize("aggregate", ["mean", "interquartile mean"])
@pytest.mark.parametrize("tasks", [1, 3])
def test_intervals_of_twenty_runs_cover(aggregate: str, tasks: int) -> None:
    """95 % +- 2 % plus twice the simulation's own error."""
    for found in measured_coverage(ENOUGH, tasks, aggregate, simulations=3000, reps=300)[: len(SHAPES)]:
        assert 0.93 - 2 * found.error_frac <= found.held_frac <= 0.97 + 2 * found.error_frac, found


def test_rliables_percentiles_are_too_narrow_for_five_runs() -> None:
    widened = measured_coverage(5, simulations=400, reps=200)[0].held_frac
    plain = measured_coverage(5, aggregate="mean", method="percentile", simulations=400, reps=200)[0].held_frac
    assert plain < 0.9
    assert widened > 0.93


def test_a_single_seed_is_refused() -> None:
    with pytest.raises(SingleSeedError, match="single run"):
        interval(np.array([1.0]))
    with pytest.raises(SingleSeedError):
        interval({"a": [1.0, 2.0], "b": [1.0]}, MEAN)


def test_runs_that_differ_in_nothing_give_no_interval() -> None:
    found = interval(np.full((5, 2), 500.0))
    assert found.refused
    assert found.value == 500
    assert (found.lo, found.hi) == (-np.inf, np.inf)
    assert interval(np.arange(8.0) + 5, optimality_gap(2.0)).refused


@pytest.mark.parametrize("scores", [[], [[]], [[1.0, float("nan")]], [[1.0, float("inf")]]])
def test_bad_scores_are_refused(scores: list[list[float]]) -> None:
    with pytest.raises(InputError):
        interval(scores)  # pyright: ignore[reportArgumentType]


def test_unequal_runs_are_not_pooled() -> None:
    unequal = {"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0]}
    with pytest.raises(UnequalRunsError, match="between 2 and 3"):
        interval(unequal)
    assert interval(unequal, MEAN).value == pytest.approx(1.75)


def test_many_data_sets_at_once_are_the_same_as_one_by_one() -> None:
    data = RNG.normal(size=(7, 25))
    for method in ("t", "percentile", "expanded", "skewed"):
        lo, hi = ends([data], MEAN.value, level=0.9, method=method, reps=50)
        each = [ends([row[None]], MEAN.value, level=0.9, method=method, reps=50) for row in data]
        assert lo == pytest.approx(np.concatenate([e[0] for e in each]))
        assert hi == pytest.approx(np.concatenate([e[1] for e in each]))


@fast
@given(st.floats(0.1, 100), st.floats(-1000, 1000))
def test_intervals_scale_and_shift_with_the_scores(scale: float, shift: float) -> None:
    one = interval(SCORES, reps=100)
    other = interval(SCORES * scale + shift, reps=100)
    assert other.lo == pytest.approx(one.lo * scale + shift, rel=1e-6, abs=1e-6)
    assert other.hi == pytest.approx(one.hi * scale + shift, rel=1e-6, abs=1e-6)
