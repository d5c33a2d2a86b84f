"""The screen for what drifts: a slow twin, what it tells of, and what becomes of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.monitor.attention import SLOWLY, Screens
from firstbreak.monitor.drifts import ALLOWED, AT_FIRST, CLIPPED, ENOUGH, MORE, SLOWEST, Drifts
from firstbreak.monitor.schedule import Schedule

AT = np.array([0], dtype=np.intp)


def told(values: list[float]) -> list[int]:
    drifts = Drifts()
    drifts.grow(1)
    return [row for row, value in enumerate(values) if drifts.take(AT, np.array([value]))[0]]


def slow(values: list[float]) -> list[int]:
    mean = away = up = down = 0.0
    due, seen, found = ENOUGH, 0, list[int]()
    for row, value in enumerate(values):
        if not math.isfinite(value):
            continue
        change = value - mean
        if seen >= AT_FIRST:
            far = change / away if away else math.copysign(math.inf, change) if change else 0.0
            far = min(max(far, -CLIPPED), CLIPPED)
            # No distance and no change is no number: sums start over.
            nothing = away == 0 and change == 0
            up = 0.0 if nothing else max(0.0, up + far - ALLOWED)
            down = 0.0 if nothing else max(0.0, down - far - ALLOWED)
            reached = max(up, down)
            if reached >= due:
                found.append(row)
                due = MORE * reached
            elif reached == 0:
                due = ENOUGH
        share = max(1 / (seen + 1), SLOWEST)
        mean, away, seen = mean + share * change, away + (share * (abs(change) - away) if seen else 0.0), seen + 1
    return found


@settings(deadline=None, max_examples=100)
@given(st.lists(st.one_of(st.integers(-3, 3).map(float), st.just(math.nan)), max_size=90))
def test_the_sum_by_hand(values: list[float]) -> None:
    assert told(values) == slow(values)


def test_a_slow_drift_is_told_of_and_then_seldom() -> None:
    noise = np.random.default_rng(0).normal(size=400)
    drift = noise + np.maximum(0, np.arange(400) - 200) * 0.1
    rows = told(drift.tolist())
    assert 200 < rows[0] < 240
    assert len(rows) < 15
    assert len(told(np.random.default_rng(1).normal(size=5000).tolist())) <= 3


@pytest.mark.parametrize("factor", [1e-3, 1e3, -1.0])
def test_no_unit_changes_it(factor: float) -> None:
    course = np.cumsum(np.random.default_rng(2).normal(size=300))
    assert told(course.tolist()) == told((factor * course).tolist())


def test_the_screen_tells_of_a_drift_that_is_not_odd() -> None:
    screens, noise = Screens({"a"}), np.random.default_rng(0).normal(size=900)
    seen = [
        row
        for row, value in enumerate(noise + np.maximum(0, np.arange(900) - 600) * 0.02)
        if screens.odd(("a",), [value]) == [] and screens.drifted
    ]
    assert seen
    assert all(row > 600 and (row + 1) % SLOWLY == 0 for row in seen)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_what_drifts_is_looked_at_where_there_is_time_and_takes_no_other_look(share: float) -> None:
    now = [0.0]
    schedule = Schedule(share=share, timer=lambda: now[0])
    schedule.looked(1.0, full=False)
    now[0] = 10.0
    for row in range(1, 101):
        schedule.heed(["a"])
        assert schedule.partly(row, ("a",)) == ({"a"} if share else set())
        assert schedule.partly(row, ("a",)) == set()
    schedule.attend(["b"])
    assert schedule.partly(101, ("a", "b")) == {"b"}
