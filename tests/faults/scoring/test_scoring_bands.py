"""The measured first metric: on made curves with a known break, and on real runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.faults.scoring.assessing import cadence_of, curves_of
from benchmarks.faults.scoring.bands import PLACES, bands_of, column_medians, first_left, on_grid, width_of
from benchmarks.faults.scoring.logs import load_log
from benchmarks.faults.scoring.losing import WINDOW, levels, loss_of

from .recorded import recorded

END = 1000.0


def curve(seed: int, scale: float = 1.0, jump_at: float = 2.0, size: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    step = np.arange(10.0, END + 1, 10.0)
    value = step / END + 0.05 * rng.normal(size=step.size)
    return step, scale * np.where(step >= jump_at * END, value + size, value)


@given(st.integers(0, 10_000), st.floats(0.3, 0.8), st.sampled_from([1.0, 1e-6, 1e6]))
@settings(max_examples=15, deadline=None)
def test_a_metric_that_jumps_is_the_first_to_leave(seed: int, at: float, scale: float):
    twins = [({"a": curve(seed + k, scale), "b": curve(seed + k + 50)}, END) for k in range(5)]
    # Runs like twins until they jump: by chance alone one of many other runs would leave earlier.
    broken = {"a": curve(seed + 1, scale, at, 3.0), "b": curve(seed + 52, 1.0, min(0.95, at + 0.1), 3.0)}
    left = first_left(broken, bands_of(twins), 10.0)
    assert left is not None
    assert left.metrics == ("a",)
    assert abs(left.at - at * END) <= END / PLACES + 10
    assert left.later == 1


@given(st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_no_twin_leaves_the_band_it_helped_to_make(seed: int):
    twins = [({"a": curve(seed + k)}, END) for k in range(5)]
    bands = bands_of(twins)
    assert all(first_left(curves, bands, 10.0) is None for curves, _ in twins)


def test_the_first_that_is_not_a_number_is_outside_every_band():
    bands = bands_of([({"a": curve(k)}, END) for k in range(4)])
    step, value = curve(9)
    value = np.where(step >= 500, np.nan, value)
    left = first_left({"a": (step, value)}, bands, 10.0)
    assert left is not None
    assert 480 <= left.at <= 520


def at_rest(level: float, at: int = -1, value: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """A metric that has one value, but `value` in row `at`."""
    step = np.arange(5.0, END + 1, 5.0)
    return step, np.where(np.arange(step.size) == at, value, level)


@given(st.sampled_from([0.0, 1.0, -0.002, 1e9]), st.integers(1, 190), st.sampled_from([0.5, 3.0, np.nan, np.inf]))
@settings(max_examples=25, deadline=None)
def test_one_row_is_enough_where_no_twin_ever_moves(level: float, at: int, value: float):
    bands = bands_of([({"a": at_rest(level), "b": curve(k)}, END) for k in range(4)])
    broken = {"a": at_rest(level, at, value), "b": curve(9)}
    left = first_left(broken, bands, 5.0)
    assert left is not None
    assert left.metrics == ("a",)
    assert left.at == 5.0 * (at + 1)
    assert first_left(broken, bands, 5.0, since=5.0 * (at + 2)) is None


def test_rounding_is_no_move_and_one_row_of_what_moves_in_twins_is_none_either():
    bands = bands_of([({"a": at_rest(1.0 + k * 1e-8), "b": at_rest(0.0, k, 1.0)}, END) for k in range(4)])
    assert first_left({"a": at_rest(1.0, 100, 1.0001), "b": at_rest(0.0, 100, 1.0)}, bands, 5.0) is None


@given(st.integers(1, 190), st.booleans())
@settings(max_examples=15, deadline=None)
def test_one_value_that_is_no_number_is_enough_where_twins_have_none(at: int, twins_too: bool):
    def spoilt(seed: int, row: int) -> tuple[np.ndarray, np.ndarray]:
        step, value = curve(seed)
        return step, np.where(np.arange(step.size) == row, np.nan, value)

    bands = bands_of([({"a": spoilt(k, 50 if twins_too and k == 0 else -1)}, END) for k in range(4)])
    left = first_left({"a": spoilt(9, at // 2)}, bands, 10.0)
    assert (left is not None and left.at == 10.0 * (at // 2 + 1)) is not twins_too


@given(st.integers(0, 10_000), st.floats(0.2, 0.5), st.floats(0.1, 0.3), st.sampled_from([0.0, 3.0]))
@settings(max_examples=15, deadline=None)
def test_a_run_that_died_is_held_against_what_twins_showed_by_then(seed: int, at: float, more: float, size: float):
    twins = [({"a": curve(seed + k)}, END) for k in range(5)]
    step, value = curve(seed + 99, 1.0, at, size)
    alive = step <= (at + more) * END
    bands = bands_of(twins)
    whole, short = (first_left({"a": (s, v)}, bands, 10.0) for s, v in ((step, value), (step[alive], value[alive])))
    if size:
        assert short is not None
        assert short == whole
    else:
        assert short is None or short == whole


def test_too_few_twins_or_a_metric_that_one_lacks_make_no_band():
    twins = [({"a": curve(k), "b": curve(k)}, END) for k in range(4)]
    assert bands_of(twins[:2]) == {}
    del twins[3][0]["b"]
    assert set(bands_of(twins)) == {"a"}


def test_what_lies_before_the_fault_does_not_count():
    bands = bands_of([({"a": curve(k)}, END) for k in range(5)])
    step, value = curve(9, 1.0, 0.2, 3.0)
    left = first_left({"a": (step, value)}, bands, 10.0, since=600.0)
    assert left is not None
    assert left.at >= 600


@given(st.lists(st.tuples(st.integers(0, 999), st.floats(-5, 5)), min_size=1, max_size=40, unique_by=lambda p: p[0]))
@settings(max_examples=40, deadline=None)
def test_the_grid_holds_medians_and_then_what_was_known_last(points: list[tuple[int, float]]):
    points.sort()
    grid = on_grid(np.array([float(s) for s, _ in points]), np.array([v for _, v in points]), END)
    known = None
    last = max(int(s / END * PLACES) for s, _ in points)
    for place in range(PLACES):
        here = [v for s, v in points if int(s / END * PLACES) == place]
        known = float(np.median(here)) if here else known
        if place > last or known is None:
            assert np.isnan(grid[place])
        else:
            assert grid[place] == known


def test_the_width_follows_how_far_a_twin_strays():
    calm = np.stack([on_grid(*curve(k), END) for k in range(5)])
    stray = calm.copy()
    stray[0, 30:] += 2.0
    assert width_of(stray) > width_of(calm) > 0


def test_medians_of_columns_leave_out_what_is_unknown():
    rows = np.array([[1.0, np.nan, np.nan], [3.0, np.nan, 7.0]])
    np.testing.assert_array_equal(column_medians(rows), [2.0, np.nan, 7.0])


@pytest.fixture(scope="module")
def bands():
    twins = [recorded(f"clean/{seed}") for seed in range(4)]
    return bands_of([(curves_of(load_log(run)), run.end_step) for run in twins])


def test_a_fifth_healthy_run_leaves_hardly_any_band(bands):
    run = recorded("clean/4")
    log = load_log(run)
    curves = curves_of(log)
    gone = [name for name in bands if first_left({name: curves[name]}, bands, cadence_of(log))]
    assert len(gone) <= len(bands) / 4


@pytest.mark.parametrize(
    ("name", "metric"),
    [("learning-rate-x30/1", "optim/lr"), ("policy-frozen/0", "policy/entropy")],
)
def test_real_faults_are_seen_where_they_were_planted(bands, name: str, metric: str):
    run = recorded(name)
    log = load_log(run)
    left = first_left(curves_of(log), bands, cadence_of(log), run.start)
    assert left is not None
    assert metric in left.metrics
    assert left.at - run.start <= 0.16 * run.end_step


def test_the_true_score_is_lost_after_the_fault_and_never_without():
    loss = loss_of(recorded("observation-zero/1"))
    assert loss is not None
    assert loss.learned
    assert loss.in_question
    assert 14400 <= loss.lost_at <= 15200  # returns fall from 250 to 20 between 14,507 and 14,767
    assert loss_of(recorded("clean/0")) is None
    assert loss_of(recorded("policy-frozen/0")) is None  # from the start: nothing had been gained


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=30))
@settings(max_examples=40, deadline=None)
def test_levels_are_means_of_the_last_points(scores: list[float]):
    for place, level in enumerate(levels(np.array(scores))):
        last = scores[max(0, place + 1 - WINDOW) : place + 1]
        assert abs(level - sum(last) / len(last)) < 1e-9


def test_a_score_that_is_not_finite_spoils_the_points_around_it_alone():
    level = levels(np.array([1.0] * 5 + [np.nan] + [1.0] * 8))
    assert np.isfinite(level).tolist() == [True] * 5 + [False] * WINDOW + [True] * 4
