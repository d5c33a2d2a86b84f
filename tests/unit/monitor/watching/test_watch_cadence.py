"""The run's own pace, against slow twins."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak import synth
from firstbreak.monitor.watching.cadence import (
    FROZEN_ROWS,
    FROZEN_TIMES,
    LEAST_SILENCE_S,
    UNKNOWN_PACE_S,
    frozen_rows,
    pace_of,
    patience_s,
    planned,
    reached,
    rows,
)
from firstbreak.runlog import ClockMap, RunLog
from firstbreak.series import Curve, Series

VALUES = st.lists(st.sampled_from([0.0, 1.0, 2.0, float("nan")]), min_size=2, max_size=70)


def log_of(**metrics: list[float]) -> RunLog:
    series = [
        Series(name.replace("__", "/"), Curve(np.arange(len(values), dtype=float), np.array(values)))
        for name, values in metrics.items()
    ]
    return RunLog("run", tuple(series))


@given(st.lists(st.floats(0.001, 1e5), min_size=1, max_size=50))
def test_patience_is_ten_usual_gaps_or_twice_the_longest_within_bounds(gaps: list[float]) -> None:
    ordered = sorted(gaps)
    middle = len(ordered) // 2
    usual = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    want = max(10 * usual, 2 * ordered[-1])
    want = min(want, 100 * usual)
    assert patience_s(np.array(gaps)) == pytest.approx(max(want, LEAST_SILENCE_S))


def test_one_night_between_two_parts_does_not_make_the_watch_patient_for_a_night() -> None:
    gaps = np.array([2.0] * 50 + [8 * 3600.0] + [2.0] * 50)
    assert patience_s(gaps) == 200.0
    assert patience_s(np.array([2.0] * 50 + [90.0])) == 180.0  # an evaluation is part of the pace
    assert patience_s(np.empty(0)) == UNKNOWN_PACE_S


def slow_frozen(columns: list[list[float]]) -> int:
    """The twin: walk the rows back and forth by hand."""
    length = max(map(len, columns))

    def moves(i: int) -> bool:
        return any(i < len(c) and not (c[i] == c[i - 1] or (c[i] != c[i] and c[i - 1] != c[i - 1])) for c in columns)

    varying = [
        c for c in columns if any(c[i] != c[i - 1] and (c[i] == c[i] or c[i - 1] == c[i - 1]) for i in range(1, len(c)))
    ]
    if len(varying) < 3:
        return 0
    moved = [i for i in range(1, length) if moves(i)]
    streak = length - 1 - moved[-1]
    usual = max((b - a for a, b in pairwise(moved)), default=1)
    return streak if streak >= max(FROZEN_ROWS, FROZEN_TIMES * usual) else 0


@given(st.lists(VALUES, min_size=1, max_size=5), st.integers(0, 60))
def test_frozen_rows_equals_its_slow_twin(columns: list[list[float]], still: int) -> None:
    columns = [c + [c[-1]] * still for c in columns]
    log = log_of(**{f"policy__m{i}": column for i, column in enumerate(columns)})
    assert frozen_rows(log) == slow_frozen(columns)


def test_a_run_whose_losses_and_rewards_repeat_is_frozen_and_the_time_does_not_count() -> None:
    moving = [float(i % 5) for i in range(60)]
    still = moving[:30] + [7.0] * 30
    frozen = {"policy__loss": still, "critic__loss": still, "policy__entropy": still}
    assert frozen_rows(log_of(**frozen, time__fps=moving)) == 29
    assert frozen_rows(log_of(**frozen, reward__step_mean=moving)) == 0
    assert frozen_rows(log_of(policy__loss=still, critic__loss=still)) == 0  # too few to tell


def test_metrics_that_always_repeat_between_updates_are_not_frozen() -> None:
    steps = [float(i // 20) for i in range(210)]
    carried = {"policy__loss": steps, "critic__loss": steps, "policy__entropy": steps}
    assert frozen_rows(log_of(**carried)) == 0
    longer = {name: values + [values[-1]] * 60 for name, values in carried.items()}
    assert frozen_rows(log_of(**longer)) == 69


def test_healthy_synthetic_runs_are_not_frozen() -> None:
    assert all(frozen_rows(synth.like(name)({})) == 0 for name in synth.HEALTHY)


def test_gaps_come_from_wall_times_or_from_the_clock_that_ties() -> None:
    wall = np.array([10.0, 12.0, 16.0])
    walled = RunLog("run", (Series("policy/loss", Curve(np.arange(3.0), np.ones(3), wall)),))
    assert pace_of(walled).gaps_s.tolist() == [2.0, 4.0]
    tied = RunLog(
        "run",
        (Series("policy/loss", Curve(np.arange(3.0), np.ones(3))),),
        clock="updates",
        clocks=ClockMap("updates", np.arange(3.0), {"seconds": np.array([0.0, 5.0, 6.0])}),
    )
    assert pace_of(tied).gaps_s.tolist() == [5.0, 1.0]
    assert pace_of(log_of(policy__loss=[1.0, 2.0])).gaps_s.size == 0


@pytest.mark.parametrize(
    ("total", "want", "got_there"),
    [(100, 100.0, False), (20, 20.0, True), (None, None, None), ("many", None, None), (0, None, None),
     (True, None, None), (float("inf"), None, None)],
)  # fmt: skip
def test_the_planned_length_is_believed_only_when_it_is_one(
    total: object, want: float | None, got_there: bool | None
) -> None:
    values = [float(i) for i in range(21)]
    log = RunLog("run", log_of(policy__loss=values).series, config={"total_steps": total})
    assert (planned(log), reached(log), rows(log)) == (want, got_there, 21)
