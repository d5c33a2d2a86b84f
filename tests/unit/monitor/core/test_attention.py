"""The screen on every row: what it draws attention to beside jumps far out of the range so far."""

from __future__ import annotations

import math

import numpy as np

from firstbreak.monitor.attention import Screens
from firstbreak.monitor.ranges import SETTLED
from firstbreak.monitor.schedule import FOLLOW_UP, FREE_LOOKS, Schedule

KEY = ("a",)


def odd_rows(values: list[float]) -> list[int]:
    screens = Screens({"a"})
    return [row for row, value in enumerate(values) if screens.odd(KEY, [value])]


def usual(rows: int) -> list[float]:
    return [0.97 + 0.01 * (row % 3) for row in range(rows)]


def test_one_outlier_long_ago_makes_no_room_for_a_break() -> None:
    course = [*usual(20), -0.4, *usual(200), -0.9, *usual(5)]
    assert odd_rows(course) == [20, 221]


def test_what_lies_within_the_range_or_drifts_is_not_odd() -> None:
    assert odd_rows([*usual(20), -0.4, *usual(200), -0.3]) == [20]
    assert odd_rows([float(row) for row in range(300)]) == []
    assert odd_rows([1.1**row for row in range(100)]) == []


def test_noise_is_hardly_ever_odd() -> None:
    chance = np.random.default_rng(0)
    assert len(odd_rows(chance.normal(size=5000).tolist())) <= 3
    assert len(odd_rows(chance.standard_t(3, size=5000).tolist())) <= 25


def test_values_that_are_no_numbers_leave_the_mean_alone() -> None:
    course = [*usual(3 * SETTLED), *[math.nan, math.inf] * 8, *usual(40), -0.9]
    assert odd_rows(course) == [3 * SETTLED, len(course) - 1]


def test_what_lies_many_ranges_outside_is_told_apart_from_what_lies_a_few() -> None:
    screens = Screens({"a"})
    course = [*usual(20), 1.05, *usual(20), 9.0, *usual(20), 30.0, -1e308]
    told = [bool(screens.odd(KEY, [value]) and screens.gross) for value in course]
    assert [row for row, gross in enumerate(told) if gross] == [41, 63]


def test_what_is_gross_is_looked_at_where_no_time_and_no_free_look_is_left() -> None:
    schedule = Schedule(share=0.0, timer=lambda: 0.0)
    schedule.looked(1.0, full=False)
    for _ in range(2 * FREE_LOOKS):  # the free looks are used up
        schedule.attend(["a"])
        for _ in range(FOLLOW_UP[-1] + 1):
            schedule.partly(1, ("a",))
    schedule.attend(["a"])
    assert schedule.partly(1, ("a",)) == set()
    schedule.attend(["a"], ("a",))
    assert schedule.partly(1, ("a",)) == {"a"}


def test_what_asks_whether_it_lasts_is_asked_once_it_has_lasted() -> None:
    schedule = Schedule(share=0.0, timer=lambda: 0.0)
    schedule.attend(["a"])
    told = [(schedule.partly(1, (key,)), schedule.lasted) for key in "abaaab"]
    assert told == [({"a"}, False), (set(), False), ({"a"}, False), ({"a"}, True), ({"a"}, False), (set(), False)]
