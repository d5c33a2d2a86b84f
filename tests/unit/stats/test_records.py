"""Twins of `firstbreak.stats.records`: every place by hand."""

from __future__ import annotations

import itertools
import math
import statistics
import unittest.mock

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.stats import record_moves, record_moves_of_each, records
from firstbreak.stats.records import BEFORE, middle_of_five

fast = settings(deadline=None, max_examples=80)
steps = st.lists(st.integers(-3, 3), max_size=40)


def test_the_middle_of_five_whatever_their_order() -> None:
    for order in itertools.permutations((0.0, 1.0, 2.0, 2.0, 9.0)):
        assert middle_of_five(np.array(order)).tolist() == [2.0]


@fast
@given(st.lists(st.floats(-9, 9), min_size=5, max_size=20))
def test_the_middle_of_each_five(value: list[float]) -> None:
    slow = [statistics.median(value[at : at + 5]) for at in range(len(value) - 4)]
    assert middle_of_five(np.array(value)).tolist() == slow


@fast
@given(steps, st.integers(1, 3), st.integers(0, 12), st.sampled_from([0.0, 1.5]), st.sampled_from([0.0, 1.5, 2.0]))
def test_a_record_is_broken_where_all_that_follows_is_further_than_any_before(
    value: list[int], stays: int, rows: int, floor: float, least: float
) -> None:
    def move(place: int, level: float) -> float:
        return abs(value[place] - level)

    def level(place: int) -> float:
        return float(statistics.median(value[place - BEFORE : place]))

    slow: list[tuple[int, float]] = []
    for place in range(max(rows, BEFORE + 1), len(value) - stays + 1):
        record = max(move(at, level(at)) for at in range(BEFORE, place))
        bar = max(record, floor)
        after = [value[at] - level(place) for at in range(place, place + stays)]
        one_side = all(d > 0 for d in after) or all(d < 0 for d in after)
        nearest = min(abs(d) for d in after)
        factor = nearest / bar if bar > floor else math.inf
        if move(place, level(place)) > record and one_side and nearest > bar and factor >= least:
            slow.append((place, factor))
    places, factors = record_moves(np.array(value, float), stays=stays, rows=rows, floor=floor, least=least)
    assert list(zip(places, factors, strict=True)) == slow


def test_what_rests_and_then_moves_breaks_no_record_by_a_number() -> None:
    value = np.array([0.0] * 30 + [1.0] * 5)
    assert record_moves(value, stays=3, rows=20, floor=1e-6) == ([30], [math.inf])


def test_no_answer_without_a_past() -> None:
    assert record_moves(np.zeros(0), stays=3, rows=20, floor=0.0) == ([], [])
    assert record_moves(np.arange(22.0), stays=3, rows=20, floor=0.0) == ([], [])


@fast
@given(st.lists(st.sampled_from([3, 11, 12, 40, 41]), max_size=7), st.integers(0, 2**32 - 1))
def test_many_at_once_are_each_as_alone(lengths: list[int], seed: int) -> None:
    chance = np.random.default_rng(seed)
    values = [chance.standard_t(2, size=length) for length in lengths]
    alone = [record_moves(value, stays=3, rows=10, floor=0.0, least=1.1) for value in values]
    for together in (1, 90, 10_000):
        with unittest.mock.patch.object(records, "TOGETHER", together):
            assert record_moves_of_each(values, stays=3, rows=10, floor=0.0, least=1.1) == alone
