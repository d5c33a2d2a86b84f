"""Intervals against scipy, and against what a bootstrap over clusters must do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from benchmarks.faults.scoring.intervals import clopper_pearson, clustered, mean, median, rate


@given(st.integers(1, 900).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
@settings(max_examples=60, deadline=None)
def test_clopper_pearson_is_the_beta_interval(pair: tuple[int, int]):
    hits, n = pair
    lo, hi = clopper_pearson(hits, n)
    assert math.isclose(lo, 0.0 if hits == 0 else float(beta.ppf(0.025, hits, n - hits + 1)), abs_tol=1e-8)
    assert math.isclose(hi, 1.0 if hits == n else float(beta.ppf(0.975, hits + 1, n - hits)), abs_tol=1e-8)


def test_nothing_is_known_of_no_runs():
    assert clopper_pearson(0, 0) == (0.0, 1.0)
    assert rate([]).n == 0
    assert clustered([], [], mean).n == 0
    with pytest.raises(ValueError, match="5 of 4"):
        clopper_pearson(5, 4)


def test_whole_clusters_are_drawn():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=10)
    values = np.repeat(centres, 20)
    apart = clustered(values.tolist(), np.repeat(np.arange(10), 20).tolist(), mean)
    alone = clustered(values.tolist(), list(range(200)), mean)
    assert apart.value == alone.value
    # Twenty copies of ten numbers know no more than ten numbers: the interval is about sqrt(20) as long.
    assert 3 < (apart.hi - apart.lo) / (alone.hi - alone.lo) < 6


def test_one_cluster_has_no_spread_and_draws_repeat():
    one = clustered([1.0, 2.0, 9.0], ["a", "a", "a"], median)
    assert (one.lo, one.value, one.hi) == (2.0, 2.0, 2.0)
    assert clustered([1.0, 2.0, 5.0], [1, 2, 3], mean) == clustered([1.0, 2.0, 5.0], [1, 2, 3], mean)
