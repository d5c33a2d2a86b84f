"""Twins of `firstbreak.stats.absence`: shares counted one by one, and rows drawn from a known number of values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.stats.absence import few_strangers, least_events, missed, other_shares, shares_apart


@given(st.lists(st.sampled_from([-3.0, -1.0, 0.0, 0.5, 1.0]), min_size=1, max_size=40))
def test_no_fewer_values_lie_apart_than_mean_and_spread_say(values: list[float]) -> None:
    row = np.array(values)
    (least,) = shares_apart(np.array([1.0 - row.mean()]), np.array([row.std()]))
    apart = sum(value != 1.0 for value in values) / len(values)
    if set(values) <= {1.0, 0.0} and 0.0 in values:
        assert least == pytest.approx(apart)
    elif apart > 0:
        assert least <= apart + 1e-9


def test_values_of_two_sizes_are_counted_row_by_row() -> None:
    found = shares_apart(np.array([0.02, 0.0, 0.5]), np.array([0.14, 0.0, 0.5]))
    assert found.tolist() == pytest.approx([0.02**2 / (0.02**2 + 0.14**2), 1.0, 0.5])


@given(st.integers(4, 200), st.lists(st.integers(1, 4), min_size=2, max_size=12))
def test_never_more_events_than_there_were(values: int, events: list[int]) -> None:
    found = least_events(np.array(events) / values)
    assert 0 < found <= np.mean(events) * (1 + 1e-6)


def test_the_same_share_in_every_row_may_be_one_event() -> None:
    assert least_events(np.full(7, 0.3)) == pytest.approx(1.0)


@pytest.mark.parametrize("mean", [2.0, 20.0])
def test_rows_of_a_known_rate_are_near_it_and_events_that_come_together_count_as_fewer(mean: float) -> None:
    rng = np.random.default_rng(3)
    alone = [least_events(np.maximum(rng.binomial(256, mean / 256, 8), 1) / 256) for _ in range(400)]
    together = [least_events(np.maximum(8 * rng.poisson(mean / 8, 8), 1) / 256) for _ in range(400)]
    assert 0.6 * mean < np.median(alone) <= 1.2 * mean
    assert np.median(together) < 0.7 * np.median(alone)


@given(st.integers(2, 5), st.integers(1, 30), st.integers(8, 500))
def test_an_absence_is_missed_once_chance_hardly_explains_it(events: int, absent: int, places: int) -> None:
    share = np.array([1, events, events, events, 1]) / 64  # of two values, 1 and 0
    none = float(np.exp(-absent * least_events(share)))
    assert missed(share, np.sqrt(share * (1 - share)), absent, places) == (places * none <= 1e-3)


def rows_of(values: list[list[float]]) -> list[np.ndarray]:
    return [np.array([f(row) for row in values]) for f in (np.mean, np.min, np.max)]


def slowly(values: list[list[float]], few: float) -> bool:
    """Whether the last of `values` holds some beyond all others, value by value."""
    *before, now = values
    for sign in (1.0, -1.0):
        rows, new = [[sign * v for v in row] for row in before], [sign * v for v in now]
        lows = [min(row) for row in rows]
        lopsided = [np.mean(row) - min(row) <= few * (max(row) - min(row)) for row in rows if max(row) > min(row)]
        mostly = bool(lopsided) and 2 * sum(lopsided) >= len(lopsided)
        held = min(lows) <= min(new) <= max(lows) and max(new) > max(map(max, rows))
        if held and np.mean(new) - min(new) <= few * (max(new) - min(new)) and not mostly:
            return True
    return False


@given(st.lists(st.lists(st.integers(-3, 3).map(float), min_size=8, max_size=8), min_size=2, max_size=6))
def test_strangers_are_found_as_value_by_value(values: list[list[float]]) -> None:
    rows = rows_of(values)
    assert few_strangers(rows, len(values) - 1, 0.1251) is slowly(values, 0.1251)


def test_a_first_goal_is_a_stranger_and_a_goal_that_pays_more_is_none() -> None:
    none, one, more = [0.0] * 64, [0.0] * 62 + [1.0] * 2, [0.0] * 62 + [90.0] * 2
    assert few_strangers(rows_of([none, none, none, one]), 3, 0.125)
    assert not few_strangers(rows_of([one, none, one, more]), 3, 0.125)
    assert not few_strangers(rows_of([none, none, none, [0.0] * 32 + [1.0] * 32]), 3, 0.125)
    assert not few_strangers(rows_of([none, none, one])[:2], 2, 0.125)


def slow_shares(values: list[list[float]], recent: int, times: float) -> bool:
    """Whether every one of the last of `values` lies among those before, and some among the recent; value by value."""
    *before, _, now = values
    usual = before[-(recent - 1) :]
    scatter = sorted(np.std(row) for row in usual)
    middle = (scatter[(len(scatter) - 1) // 2] + scatter[len(scatter) // 2]) / 2
    everything, lately = ([value for row in rows for value in row] for rows in (before, usual))
    known = all(min(everything) <= value <= max(everything) for value in now)
    alike = min(now) <= max(lately) and max(now) >= min(lately)
    return known and alike and bool(np.std(now) * times < middle or np.std(now) > middle * times)


@given(st.lists(st.lists(st.integers(-3, 3).map(float), min_size=4, max_size=4), min_size=3, max_size=12))
def test_other_shares_are_found_as_value_by_value(values: list[list[float]]) -> None:
    spread = np.array([np.std(row) for row in values])
    assert other_shares(rows_of(values), spread, len(values) - 1, 5, 3.1) is slow_shares(values, 5, 3.1)


def test_a_loss_that_is_avoided_is_no_other_sign() -> None:
    lossy, safe = [0.5, 0.9] * 6 + [-6.0] * 4, [0.5, 0.9] * 8
    rows = [lossy] * 8 + [safe] * 2
    spread = np.array([np.std(row) for row in rows])
    assert other_shares(rows_of(rows), spread, 9, 8, 3.0)
    assert not other_shares(rows_of(rows)[:2], spread, 9, 8, 3.0)
    turned = [lossy] * 8 + [[-value for value in lossy]] * 2
    assert not other_shares(rows_of(turned), np.array([np.std(row) for row in turned]), 9, 8, 3.0)
    moved = [safe] * 8 + [[value - 2 for value in lossy]] * 2  # a loss that was never seen before
    assert not other_shares(rows_of(moved), np.array([np.std(row) for row in moved]), 9, 8, 3.0)
