"""Curves and scopes: read-only, gaps kept."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.series import WHOLE_RUN, Curve, Scope, Series, frozen_floats


@given(st.lists(st.floats(width=64), max_size=20))
def test_numbers_stay_as_logged_nan_and_inf_included(values: list[float]) -> None:
    curve = Curve(np.arange(len(values)), np.array(values))
    np.testing.assert_array_equal(curve.value, values)
    assert len(curve) == len(values)


def test_arrays_are_read_only_and_the_callers_view_stays_writable() -> None:
    mine = np.arange(10.0)
    kept = frozen_floats(mine[2:5])
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 9
    mine[2] = -1.0
    assert kept[0] == 2.0


@pytest.mark.parametrize(("step", "value"), [(np.arange(3), np.arange(4)), (np.zeros((2, 2)), np.zeros((2, 2)))])
def test_a_curve_of_unequal_or_flat_arrays_is_refused(step: np.ndarray, value: np.ndarray) -> None:
    with pytest.raises(ValueError, match="one-dimensional"):
        Curve(step, value)


def test_a_scope_shows_only_what_is_set_and_sorts() -> None:
    assert str(WHOLE_RUN) == ""
    assert str(Scope(policy="a", component="kl")) == "policy=a,component=kl"
    assert sorted([Scope(policy="b"), WHOLE_RUN, Scope(policy="a")])[0] == WHOLE_RUN


def test_a_series_shows_its_curve() -> None:
    curve = Curve([1, 2], [3, 4], [5, 6])
    series = Series("policy/kl_old", curve)
    assert (series.step is curve.step, series.value is curve.value, series.wall is curve.wall) == (True, True, True)
    assert len(series) == 2
