"""A track in bounded memory gives rules exactly what they would see of the whole series."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.ingest.tidy import tidy
from firstbreak.monitor.track import ODD, Columns, Track
from firstbreak.series import Curve, Series
from firstbreak.view import HEAD, MIDDLE, TAIL, Points, _cut

ODDITIES = (np.nan, np.inf, -np.inf)


def columns(step: np.ndarray, value: np.ndarray) -> Columns:
    return Columns.of(step.astype(float), value.astype(float), step.astype(float) + 1e9)


def seen(track: Track) -> Points:
    curve, tally = track.curve()
    points = _cut(Series("m", curve, whole=tally), -np.inf, np.inf)
    assert points is not None
    return points


def whole(step: np.ndarray, value: np.ndarray) -> Points:
    points = _cut(Series("m", tidy(Curve(step.astype(float), value.astype(float)))[0]), -np.inf, np.inf)
    assert points is not None
    return points


def same(a: Points, b: Points) -> None:
    for name in (
        "step",
        "value",
        "total",
        "nonfinite",
        "first_nonfinite",
        "first_inf",
        "max",
        "max_at",
        "min",
        "min_at",
    ):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 6000),
    batch=st.integers(1, 900),
    seed=st.integers(0, 9),
    odd=st.sampled_from([0.0, 0.002, 0.3]),
    twice=st.booleans(),
)
def test_a_track_is_a_view_of_the_whole_series(n: int, batch: int, seed: int, odd: float, twice: bool) -> None:
    rng = np.random.default_rng(seed)
    value = np.round(rng.normal(size=n), 1)  # equal extremes occur: the first counts
    value[rng.random(n) < odd] = rng.choice(ODDITIES)
    step = np.cumsum(rng.integers(0 if twice else 1, 3, size=n))  # steps repeat: the last of them counts
    track = Track()
    for start in range(0, n, batch):
        track.extend(columns(step[start : start + batch], value[start : start + batch]))
    same(seen(track), whole(step, value))


def test_memory_is_bounded_however_long_the_run() -> None:
    track = Track()
    for part in range(100):
        step = np.arange(part * 1000, (part + 1) * 1000)
        track.extend(columns(step, np.where(step % 7 == 0, np.nan, step)))
        assert len(track.curve()[0]) <= HEAD + 2 * MIDDLE + TAIL + 2 * ODD + 2
    assert len(track) == 100_000
    assert seen(track).nonfinite == np.count_nonzero(np.arange(100_000) % 7 == 0)


def test_episodes_that_end_together_are_all_kept() -> None:
    track = Track(keep_repeats=True)
    track.extend(columns(np.array([1, 1, 1]), np.array([1, 2, 3])))
    track.extend(columns(np.array([1, 2]), np.array([4, 5])))
    assert seen(track).value.tolist() == [1, 2, 3, 4, 5]


def test_a_resumed_run_replaces_what_it_overlaps() -> None:
    track = Track()
    track.extend(columns(np.arange(10), np.arange(10)))
    track.extend(columns(np.array([6, 7]), np.array([60, 70])))
    points = seen(track)
    assert points.value.tolist() == [0, 1, 2, 3, 4, 5, 60, 70]
    assert (points.total, points.max, points.max_at) == (8, 70, 7)


@pytest.mark.parametrize("step", [0, 3, 9, 20])
def test_a_cut_forgets_what_came_later(step: int) -> None:
    track = Track()
    value = np.arange(10.0)
    value[4] = np.nan
    track.extend(columns(np.arange(10), value))
    track.cut(step)
    if step == 0:
        assert len(track) == 0
    else:
        same(seen(track), whole(np.arange(min(step, 10)), value[:step]))


def test_no_points_are_no_change() -> None:
    track = Track()
    track.extend(Columns())
    assert len(track) == 0
    assert track.last_step == -np.inf


@pytest.mark.parametrize("odd", [0.0, 0.02])
def test_rows_that_come_one_by_one_make_the_same_track(odd: float) -> None:
    """How a monitor that may act is fed: each row is looked at."""
    rng = np.random.default_rng(3)
    n = HEAD + MIDDLE + TAIL + 700
    step, value = np.arange(n), rng.normal(size=n)
    value[rng.random(n) < odd] = np.nan
    track = Track()
    for at in range(n):
        track.extend(columns(step[at : at + 1], value[at : at + 1]))
        if at in (0, 5, HEAD, HEAD + MIDDLE + TAIL, HEAD + MIDDLE + TAIL + 1, n - 1):
            same(seen(track), whole(step[: at + 1], value[: at + 1]))
    assert track.changes == n
