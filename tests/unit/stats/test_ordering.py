"""Twins of `firstbreak.stats.ordering`: Monte Carlo and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.stats import Order, order, probability_before

fast = settings(deadline=None, max_examples=150)
ends = st.integers(0, 40)
intervals = st.tuples(ends, ends).map(lambda pair: (float(min(pair)), float(max(pair))))


@fast
@given(intervals, intervals)
def test_the_probability_is_that_of_drawing(a: tuple[float, float], b: tuple[float, float]) -> None:
    """Twin: midpoints of a fine grid over both intervals, every pair compared."""
    grid = (np.arange(200) + 0.5) / 200
    first = a[0] + (a[1] - a[0]) * grid
    second = b[0] + (b[1] - b[0]) * grid
    drawn = np.mean(first[:, None] < second[None, :]) + 0.5 * np.mean(first[:, None] == second[None, :])
    assert probability_before(a, b) == pytest.approx(drawn, abs=0.01)


@fast
@given(intervals, intervals)
def test_the_two_probabilities_sum_to_one(a: tuple[float, float], b: tuple[float, float]) -> None:
    assert 0 <= probability_before(a, b) <= 1
    assert probability_before(a, b) + probability_before(b, a) == pytest.approx(1)


@fast
@given(intervals)
def test_an_interval_is_tied_with_itself(a: tuple[float, float]) -> None:
    assert probability_before(a, a) == pytest.approx(0.5)
    assert order(a, a) is Order.TIED


@fast
@given(intervals, intervals, st.integers(0, 10))
def test_order_is_antisymmetric_and_honest(a: tuple[float, float], b: tuple[float, float], cadence: int) -> None:
    opposite = {Order.BEFORE: Order.AFTER, Order.AFTER: Order.BEFORE, Order.TIED: Order.TIED}
    said = order(a, b, cadence)
    assert order(b, a, cadence) is opposite[said]
    if said is Order.BEFORE:
        assert probability_before(a, b) >= 0.9
        assert sum(b) / 2 - sum(a) / 2 > cadence
    if said is Order.TIED and cadence == 0:
        assert max(probability_before(a, b), probability_before(b, a)) < 0.9 + 1e-12 or sum(a) == sum(b)


@pytest.mark.parametrize(
    ("a", "b", "cadence", "expected"),
    [
        ((0, 1), (5, 6), 0, Order.BEFORE),
        ((0, 1), (5, 6), 5, Order.TIED),
        ((0, 10), (5, 15), 0, Order.TIED),
        ((5, 6), (0, 1), 2, Order.AFTER),
        ((3, 3), (4, 4), 0, Order.BEFORE),
        ((0, 10), (9, 100), 1, Order.BEFORE),
    ],
)
def test_order_on_plain_examples(
    a: tuple[float, float], b: tuple[float, float], cadence: float, expected: Order
) -> None:
    assert order(a, b, cadence) is expected
