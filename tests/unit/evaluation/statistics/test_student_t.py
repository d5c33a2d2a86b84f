"""Twins of the distributions: SciPy."""

from __future__ import annotations

import math

import pytest
import scipy.special
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.evaluation.statistics.student import beta_inc, normal_cdf, t_cdf, t_quantile

fast = settings(deadline=None, max_examples=60)


@fast
@given(st.floats(-40, 40), st.floats(0.5, 500))
def test_the_t_distribution_is_scipys(x: float, df: float) -> None:
    assert t_cdf(x, df) == pytest.approx(scipy.stats.t.cdf(x, df), abs=1e-10)


@fast
@given(st.floats(0.0005, 0.9995), st.floats(1, 500))
def test_the_quantile_is_scipys(p: float, df: float) -> None:
    assert t_quantile(p, df) == pytest.approx(scipy.stats.t.ppf(p, df), rel=1e-8, abs=1e-8)


@fast
@given(st.floats(0.3, 50), st.floats(0.3, 50), st.floats(0, 1))
def test_the_incomplete_beta_is_scipys(a: float, b: float, x: float) -> None:
    assert beta_inc(a, b, x) == pytest.approx(scipy.special.betainc(a, b, x), abs=1e-10)


def test_far_ends() -> None:
    assert t_cdf(-math.inf, 3) == 0
    assert t_cdf(math.inf, 3) == 1
    assert normal_cdf(-38) == pytest.approx(scipy.stats.norm.cdf(-38), rel=1e-9)
