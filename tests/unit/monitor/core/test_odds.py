"""Events with known odds: what chance does is not told, a turned coin is within some ten of them."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.monitor.odds import AT_ONCE, CERTAIN, WINDOWS, Odds, divergence


@given(st.integers(1, 40), st.data())
def test_no_more_is_claimed_than_the_binomial_tail_allows(count: int, data: st.DataObject) -> None:
    hits, odds = data.draw(st.integers(0, count)), data.draw(st.floats(0.01, 0.99))
    tail = sum(comb(count, k) * odds**k * (1 - odds) ** (count - k) for k in range(hits, count + 1))
    assert np.exp(-count * divergence(hits / count, odds)) >= tail * (1 - 1e-9)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 9999), st.sampled_from([0.01, 0.03, 0.2, 0.75]))
def test_chance_alone_is_never_told(seed: int, chance: float) -> None:
    counted = Odds()
    drawn = np.random.default_rng(seed).random(2000) < chance
    assert [found for one in drawn if (found := counted.add(bool(one), chance)) is not None] == []
    most = counted.take()
    assert most is not None
    assert most < CERTAIN


def test_odds_may_change_from_event_to_event() -> None:
    counted, rng = Odds(), np.random.default_rng(0)
    for chance in np.linspace(1.0, 0.04, 3000):
        assert counted.add(bool(rng.random() < chance), float(chance)) is None


def test_a_turned_coin_is_told_within_some_ten_events() -> None:
    counted, rng = Odds(), np.random.default_rng(1)
    for _ in range(500):
        counted.add(bool(rng.random() < 0.03), 0.03)
    told = [n for n in range(40) if counted.add(bool(rng.random() < 0.72), 0.03) is not None]
    assert told[0] < 16
    assert len(told) == AT_ONCE  # the next row says the rest
    assert (counted.take() or 0) > CERTAIN
    assert counted.take() is None
    assert counted.near


def test_fewer_than_the_odds_say_are_none_of_its_business() -> None:
    counted = Odds()
    assert all(counted.add(False, 0.9) is None for _ in range(300))
    assert counted.take() == 0.0


def test_too_few_events_say_nothing() -> None:
    counted = Odds()
    for _ in range(WINDOWS[0] - 1):
        counted.add(True, 0.01)
    assert counted.take() == 0.0


def test_windows_hold_the_newest_alone() -> None:
    counted = Odds()
    for _ in range(WINDOWS[-1]):
        counted.add(True, 0.03)
    counted.take()
    for _ in range(WINDOWS[-1]):
        counted.add(False, 0.03)
    counted.take()
    counted.add(False, 0.03)
    assert counted.take() == pytest.approx(0.0)
