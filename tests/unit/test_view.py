"""`RunView`: bounded, exact where it says exact, and the same live and post-mortem."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.runlog import RunLog
from firstbreak.series import Confidence, Curve, Scope, Series
from firstbreak.view import HEAD, MIDDLE, TAIL, Points, RunView

M = "policy/loss"
FIELDS = ("total", "nonfinite", "first_nonfinite", "first_inf", "max", "max_at", "min", "min_at")


def log_of(value: np.ndarray, step: np.ndarray | None = None, **settings: object) -> RunLog:
    steps = np.arange(1.0, value.size + 1) if step is None else step
    return RunLog("test", series=(Series(M, Curve(steps, value)),), **settings)  # type: ignore[arg-type]


def truncated(log: RunLog, hi: float) -> RunLog:
    """What a live reader would hold at position `hi`."""
    cut = [replace(s, curve=Curve(s.step[s.step <= hi], s.value[s.step <= hi])) for s in log.series]
    return replace(log, series=tuple(cut))


def points(view: RunView) -> Points:
    got = view.get(M)
    assert got is not None
    return got


@settings(max_examples=40)
@given(st.integers(1, 6000), st.integers(0, 10**6), st.floats(0, 0.3))
def test_the_view_of_a_prefix_is_the_view_of_the_truncated_log(n: int, seed: int, bad: float) -> None:
    rng = np.random.default_rng(seed)
    value = rng.standard_normal(n)
    value[rng.random(n) < bad] = rng.choice([np.nan, np.inf, -np.inf])
    log = log_of(value)
    hi = float(rng.integers(1, n + 1))
    post, live = points(RunView(log, hi)), points(RunView(truncated(log, hi)))
    np.testing.assert_array_equal(post.step, live.step)
    np.testing.assert_array_equal(post.value, live.value)
    for name in FIELDS:
        np.testing.assert_equal(getattr(post, name), getattr(live, name))


@settings(max_examples=40)
@given(st.integers(1, 5000), st.integers(0, 10**6), st.floats(0, 0.3))
def test_counts_and_extremes_are_those_of_the_full_data(n: int, seed: int, bad: float) -> None:
    rng = np.random.default_rng(seed)
    value = rng.standard_normal(n)
    hit = rng.random(n) < bad
    value[hit] = rng.choice([np.nan, np.inf, -np.inf], size=int(hit.sum()))
    got = points(RunView(log_of(value)))
    finite = np.isfinite(value)
    assert got.total == n
    assert got.nonfinite == np.count_nonzero(~finite)
    if hit.any():
        assert got.first_nonfinite == np.flatnonzero(~finite)[0] + 1
    else:
        assert np.isnan(got.first_nonfinite)
    infinite = np.flatnonzero(np.isinf(value))
    np.testing.assert_equal(got.first_inf, float(infinite[0] + 1) if infinite.size else float("nan"))
    if finite.any():
        assert (got.max, got.min) == (value[finite].max(), value[finite].min())
        assert (value[int(got.max_at) - 1], value[int(got.min_at) - 1]) == (got.max, got.min)


@pytest.mark.parametrize("n", [1, HEAD + MIDDLE + TAIL, HEAD + MIDDLE + TAIL + 1, 10_000, 100_000])
def test_the_budget_holds_and_single_points_are_kept(n: int) -> None:
    value = np.random.default_rng(n).standard_normal(n)
    got = points(RunView(log_of(value)))
    assert len(got) <= HEAD + MIDDLE + TAIL
    assert np.all(np.diff(got.step) > 0)
    np.testing.assert_array_equal(got.value, value[got.step.astype(int) - 1])
    np.testing.assert_array_equal(got.step[:HEAD], np.arange(1, min(n, HEAD) + 1))
    np.testing.assert_array_equal(got.step[-TAIL:], np.arange(max(n - TAIL, 0) + 1, n + 1))


def test_thinning_covers_the_middle_evenly() -> None:
    got = points(RunView(log_of(np.zeros(100_000))))
    middle = got.step[(got.step > HEAD) & (got.step <= 100_000 - TAIL)]
    assert middle.size > MIDDLE / 2 - 2
    assert np.unique(np.diff(middle)).size == 1


def test_a_spike_that_is_thinned_away_is_still_in_the_extremes() -> None:
    value = np.zeros(100_000)
    value[50_001] = 7.0
    got = points(RunView(log_of(value)))
    assert (got.max, got.max_at) == (7.0, 50_002.0)


def test_lo_and_hi_cut_inclusively_and_nothing_is_none() -> None:
    log = log_of(np.arange(10.0))
    assert points(RunView(log, hi=7, lo=3)).step.tolist() == [3, 4, 5, 6, 7]
    assert RunView(log, hi=0.5).get(M) is None
    assert not RunView(log, hi=0.5).has(M)
    assert RunView(log).get("no/such") is None


def test_only_nonfinite_points_are_still_logged() -> None:
    view = RunView(log_of(np.full(5, np.nan)))
    assert view.has(M)
    assert view.get(M) is None
    got = view.logged(M)
    assert got is not None
    assert (len(got), got.total, got.nonfinite) == (0, 5, 5)
    assert np.isnan([got.first, got.last, got.max, got.min]).all()


def test_get_takes_the_first_metric_that_is_there_and_scopes_fall_back() -> None:
    agent = Scope(policy="a")
    log = RunLog(
        "test",
        series=(
            Series("x/whole", Curve([1], [1])),
            Series("x/both", Curve([1], [2])),
            Series("x/both", Curve([1], [3]), agent),
        ),
    )
    view = RunView(log).at(agent)
    assert [p.last for p in (view.get("no", "x/whole"), view.get("x/both")) if p] == [1, 3]
    assert points_last(RunView(log), "x/both") == 2


def points_last(view: RunView, metric: str) -> float:
    got = view.get(metric)
    assert got is not None
    return got.last


def test_a_family_is_keyed_by_component() -> None:
    log = RunLog(
        "test",
        series=(
            Series("reward/component", Curve([1], [1]), Scope(component="format")),
            Series("reward/component", Curve([5], [2]), Scope(component="answer")),
        ),
    )
    assert set(RunView(log).family("reward/component")) == {"format", "answer"}
    assert set(RunView(log, hi=2).family("reward/component")) == {"format"}


@pytest.mark.parametrize(
    ("value", "number"),
    [(3, 3.0), ("1e-4", 1e-4), (True, None), (None, None), ("auto", None), (float("nan"), None), ([1], None)],
)
def test_number_takes_only_finite_numbers(value: object, number: float | None) -> None:
    assert RunView(log_of(np.zeros(1), config={"k": value})).number("k") == number


def test_config_and_context_come_from_the_log() -> None:
    view = RunView(log_of(np.zeros(1), config={"gamma": None, "lr": 0.1}, algorithm="PPO", framework="sb3"))
    assert (view.config("gamma", 0.99), view.config("lr", 1), view.config("no")) == (0.99, 0.1, None)
    assert (view.algorithm, view.framework, view.clock) == ("PPO", "sb3", "rows")
    assert (view.onset(3).lo, view.onset(3).hi, view.onset(1, 4).middle) == (3, 3, 2.5)


def test_a_guess_is_not_trusted_and_cadence_is_the_usual_distance() -> None:
    curve = Curve([10, 20, 30, 100], [0, 0, 0, 0])
    guess = RunView(RunLog("t", series=(Series(M, curve, confidence=Confidence.GUESS),)))
    assert not guess.trusted(points(guess))
    assert points(guess).cadence == 10
    assert points(RunView(log_of(np.zeros(1)))).cadence == 0


def test_what_is_asked_of_points_once_is_worked_out_once() -> None:
    asked: list[int] = []

    def count(points: Points) -> int:
        asked.append(len(points))
        return len(points)

    view = RunView(log_of(np.arange(5.0)))
    assert [points(view).once(count), points(view.at(Scope(rank="1"))).once(count), asked] == [5, 5, [5]]


def test_what_is_asked_of_a_view_once_is_worked_out_once_for_each_prefix_and_scope() -> None:
    asked: list[float] = []

    def count(view: RunView) -> float:
        asked.append(view.hi)
        return view.hi

    log = log_of(np.arange(5.0))
    view, other = RunView(log, 3.0), RunView(log, 4.0)
    assert [view.once(count), other.once(count), view.once(count), asked] == [3.0, 4.0, 3.0, [3.0, 4.0]]
    assert view.at(Scope(rank="1")).once(count) == 3.0
    assert asked == [3.0, 4.0, 3.0]


def test_what_opens_a_series_is_told_from_what_was_cut_or_thinned() -> None:
    bad = np.array([np.nan, 1.0, np.inf, 2.0, 3.0])
    assert points(RunView(log_of(bad), 4.0)).opening
    assert points(RunView(log_of(bad), lo=2.0)).opening  # what was cut off holds no finite number
    assert not points(RunView(log_of(bad), lo=3.0)).opening
    assert points(RunView(log_of(np.arange(1280.0)))).opening
    assert not points(RunView(log_of(np.arange(1281.0)))).opening


@pytest.mark.parametrize(
    ("value", "extremes"),
    [([2.0, 1.0, 3.0], (1.0, 3.0)), ([np.nan, 1.0, np.inf], (1.0, 1.0)), ([np.nan], (np.nan, np.nan))],
)
def test_the_extremes_of_a_series_are_of_what_is_finite(value: list[float], extremes: tuple[float, float]) -> None:
    np.testing.assert_equal(log_of(np.array(value)).series[0].extremes, extremes)
