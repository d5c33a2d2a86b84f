"""Twins of `firstbreak.stats.leaving`: every stretch by hand."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.stats.leaving import (
    EARLIEST,
    FEWEST,
    FROM,
    LEAST_MOVES,
    ON_END,
    OVER,
    PAIR,
    STIRRING,
    UNTIL,
    beyond_range,
    beyond_record,
    extremes,
)

fast = settings(deadline=None, max_examples=60)
courses = st.lists(st.integers(-4, 4).map(float), max_size=70)
FLOOR = 0.5


def stirs(past: list[float], before: list[float]) -> bool:
    """Whether most of a past differ from the value before them; `before` is the series up to its end."""
    start = len(before) - len(past)
    changes = sum(at > 0 and before[at] != before[at - 1] for at in range(start, len(before)))
    return changes >= STIRRING * len(past)


def slow_range(value: list[float]) -> list[float]:
    blocks = [statistics.mean(value[at : at + PAIR]) for at in range(0, len(value) - PAIR + 1, PAIR)]
    outside = [-math.inf] * len(blocks)
    for at, now in enumerate(blocks):
        past = blocks[int(FROM * at) : int(UNTIL * at)]
        if len(past) >= FEWEST and stirs(past, blocks[: int(UNTIL * at)]):
            outside[at] = max(now - max(past), min(past) - now) / max(max(past) - min(past), FLOOR)
    found = [-math.inf] * len(value)
    for at in range(ON_END - 1, len(blocks)):
        found[PAIR * at + PAIR - 1] = min(outside[at - ON_END + 1 : at + 1])
    return found


def slow_record(value: list[float]) -> list[float]:
    found = [-math.inf] * len(value)
    level = [statistics.median(value[at : at + 5]) for at in range(len(value) - 4)]
    for at in range(len(level)):
        start, stop = max(int(EARLIEST * at), OVER), at - OVER + 1
        if stop - start < LEAST_MOVES or not stirs(level[start:stop], level[:stop]):
            continue
        record = max(abs(level[place] - level[place - OVER]) for place in range(start, stop))
        found[at + 4] = abs(level[at] - level[at - OVER]) / max(record, FLOOR)
    return found


@fast
@given(courses)
def test_how_many_ranges_a_value_lies_outside(value: list[float]) -> None:
    assert beyond_range(np.array(value), FLOOR).tolist() == pytest.approx(slow_range(value))


@fast
@given(courses)
def test_how_many_records_a_move_is(value: list[float]) -> None:
    assert beyond_record(np.array(value), FLOOR).tolist() == pytest.approx(slow_record(value))


@fast
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 40)), max_size=12))
def test_extremes_of_stretches(stretches: list[tuple[int, int]]) -> None:
    value = np.random.default_rng(0).normal(size=71)
    start = np.array([a for a, _ in stretches], dtype=np.intp)
    stop = np.array([a + n for a, n in stretches], dtype=np.intp)
    assert extremes(value, start, stop, np.maximum).tolist() == [max(value[a : a + n]) for a, n in stretches]
    assert extremes(value, start, stop, np.minimum).tolist() == [min(value[a : a + n]) for a, n in stretches]


@fast
@given(courses, st.integers(0, 70))
def test_what_was_measured_stays_as_the_series_grows(value: list[float], rows: int) -> None:
    for measure in (beyond_range, beyond_record):
        early, late = measure(np.array(value[:rows]), FLOOR), measure(np.array(value), FLOOR)
        assert early.tolist() == late[: early.size].tolist()


def test_a_step_is_seen_within_eight_values_and_what_rests_has_no_past() -> None:
    noise = np.random.default_rng(1).normal(size=100)
    step = np.where(np.arange(100) < 80, noise, noise + 50)
    assert np.flatnonzero(beyond_range(step, 0.1) > 5)[0] == 85
    assert np.flatnonzero(beyond_record(step, 0.1) > 5)[0] == 82
    rest = np.where(np.arange(100) < 80, 1.0, 50.0)
    assert not np.isfinite(beyond_range(rest, 0.1)).any()
    assert not np.isfinite(beyond_record(rest, 0.1)).any()
