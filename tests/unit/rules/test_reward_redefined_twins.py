"""The looks of `reward-redefined` compare each row with all before it at once; here row by row, as they are defined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.rules.reward_signal import clamped
from firstbreak.rules.reward_signal.reward_redefined import LEVEL, MIXED, Params, flipped, grown, silent, turned_over
from firstbreak.runlog import RunLog
from firstbreak.series import Curve, Floats, Series
from firstbreak.view import Points, RunView

P = Params()


@st.composite
def curves(draw: st.DrawFn) -> Floats:
    """Up to 40 values, noisy or rounded, whose tail is often of another sign, size or kind."""
    n = draw(st.integers(1, 40))
    value = np.random.default_rng(draw(st.integers(0, 10**6))).standard_normal(n) + draw(st.sampled_from([0, -3, 3]))
    if draw(st.booleans()):
        value = np.round(value, draw(st.integers(0, 1)))
    tail = slice(draw(st.integers(0, n)), n)
    kind = draw(st.sampled_from(["as it is", "turned", "held", "gone", "large", "small"]))
    if kind == "turned":
        value = -np.abs(value)
        value[tail] *= -1
    elif kind in ("held", "gone"):
        value = np.abs(value)
        value[tail] = 0.0 if kind == "gone" else draw(st.sampled_from([float(value[0]), 50.0]))
    elif kind in ("large", "small"):
        value[tail] *= 30 if kind == "large" else 1e-5
    return value.astype(float)


def logged(value: Floats) -> tuple[RunView, Points]:
    """The mean reward of each row, of which neither least nor largest is logged: nobody can tell of rare ones."""
    mean = Series(LEVEL[0], Curve(np.arange(1.0, value.size + 1), value))
    view = RunView(RunLog("test", series=(mean,)))
    points = view.get(LEVEL[0])
    assert points is not None
    return view, points


def slow_flipped(value: Floats) -> int | None:
    for place in range(P.rows, value.size - P.lasts + 1):
        before, now = value[: place - MIXED], value[place : place + P.lasts]
        sign = np.sign(before[-1])
        if sign == 0 or any(np.sign(b) != sign for b in before) or any(np.sign(x) != -sign for x in now):
            continue
        size = abs(np.median(before[-P.rows :]))
        usual = np.median(np.abs(np.diff(before)))
        alike = all(size / P.mirror < abs(x) < size * P.mirror for x in now)
        if alike and abs(now[0] - before[-1]) > P.jumps * usual:
            return place
    return None


def slow_grown(value: Floats) -> int | None:
    for place in range(P.rows, value.size - P.lasts + 1):
        most = max(np.abs(value[:place]))
        if most > 0 and all(abs(x) > P.scale * most for x in value[place : place + P.lasts]):
            return place
    return None


def slow_clamped(value: Floats, outward: float) -> int | None:
    for place in range(P.rows, value.size - P.bounded + 1):
        before, now = value[:place].tolist(), value[place : place + P.bounded].tolist()
        if len(set(now)) == 1 and len(set(before)) == len(before) and now[0] not in before:
            beyond = np.median(before) > now[0] if outward > 0 else np.median(before) < now[0]
            return place if beyond else None
    return None


def slow_silent(value: Floats) -> int | None:
    for place in range(P.rows, value.size - P.lasts + 1):
        recent, least = value[place - P.rows : place - MIXED], min(value[: place - MIXED])
        abrupt = min(recent) >= P.abrupt * np.median(recent)
        if abrupt and least > 0 and all(x <= P.vanished * least for x in value[place : place + P.lasts]):
            return place
    return None


def slow_turned_over(low: Floats, high: Floats) -> int | None:
    for one, other in ((low, high), (-high, -low)):
        for kept, lasts in ((0.0, 1), (P.remainder, P.lasts)):
            for place in range(P.rows, one.size - lasts + 1):
                before = zip(one[: place - MIXED], other[: place - MIXED], strict=True)
                now = zip(one[place : place + lasts], other[place : place + lasts], strict=True)
                if all(b <= 0 and a < 0 for a, b in before) and all(b > 0 and a >= -kept * b for a, b in now):
                    return place
    return None


@settings(deadline=None, max_examples=300)
@given(curves())
def test_each_look_finds_the_place_that_its_definition_names(value: Floats) -> None:
    assert flipped(value, P) == slow_flipped(value)
    view, points = logged(value)
    assert grown(view, points, np.abs(value), P) == slow_grown(value)
    for outward in (-1.0, 1.0):
        assert clamped(value, outward, P.rows, P.bounded) == slow_clamped(value, outward)
    assert silent(value, P) == slow_silent(value)
    low, high = value - 0.1, value + 0.1
    assert turned_over(low, high, P) == slow_turned_over(low, high)
    low = np.where(value > 0, -0.03 * value, value - 0.1)  # costs that stay, small beside what turned
    assert turned_over(low, high, P) == slow_turned_over(low, high)


@pytest.mark.parametrize("look", [flipped, silent])
def test_a_curve_of_one_row_shows_nothing(look: object) -> None:
    assert callable(look)
    assert look(np.array([1.0]), P) is None
    assert clamped(np.array([1.0]), 1.0, P.rows, P.bounded) is None
