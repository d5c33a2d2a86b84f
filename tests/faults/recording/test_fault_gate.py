"""The gate's statistics, against a slow twin."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.faults import gate
from benchmarks.faults.recording import write_run

FAULT, PROTOCOL = "reward-flipped", "version-off-by-one"
numbers = st.lists(st.floats(-1e3, 1e3).map(lambda x: round(x, 3)), min_size=2, max_size=8)


def slow_deviation(values: list[float]) -> float:
    """Of the sample, by its definition over all pairs."""
    n = len(values)
    return math.sqrt(sum((a - b) ** 2 for a in values for b in values) / (2 * n * (n - 1)))


@given(numbers, numbers)
def test_the_figure_is_the_difference_over_the_larger_deviation(clean: list[float], broken: list[float]) -> None:
    times, spread = gate.times_the_spread(clean, broken)
    slow = max(slow_deviation(clean), slow_deviation(broken))
    assert spread == pytest.approx(slow, rel=1e-6, abs=1e-6)
    if slow > 1e-3:
        difference = sum(clean) / len(clean) - sum(broken) / len(broken)
        assert times == pytest.approx(difference / slow, rel=1e-4, abs=1e-4)


def run(score: float | None, seed: int, *, fault: str | None = FAULT, frac: float | None = 0.0, **more: Any) -> Any:
    """A run that scores 0 at first and this in its last quarter."""
    truth = {"step": [10, 50, 80, 100], "score": [0.0, 0.0, score, score]} if score is not None else {}
    name = fault or "clean"
    known = {"id": f"ppo/CartPole-v1/{name}/{seed}", "subject": "ppo", "task": "CartPole-v1", "fault": fault}
    found = {"start_frac": frac if fault else None, "seed": seed, "end_step": 100, "died": "", "keys": {}}
    return {**known, **found, "truth": truth or {"step": [], "score": []}, **more}


def clean_runs(scores: list[float]) -> list[Any]:
    return [run(score, i, fault=None) for i, score in enumerate(scores)]


def the_word(runs: list[Any]) -> gate.Judged:
    (word,) = gate.judged_all(runs)
    return word


def test_a_fault_counts_beyond_three_deviations_and_not_below() -> None:
    clean = clean_runs([99, 100, 101, 100, 100])
    spread = slow_deviation([99, 100, 101, 100, 100])
    for times, counts in ((3.1, True), (2.9, False)):
        broken = [run(100 - times * spread, i) for i in range(5)]
        assert the_word([*clean, *broken]).counts is counts


def test_a_fault_that_makes_the_score_rise_does_not_count() -> None:
    word = the_word([*clean_runs([99, 100, 101, 100, 100]), *[run(500.0, i) for i in range(5)]])
    assert not word.counts
    assert word.times is not None
    assert word.times < 0


def test_a_spread_of_nothing_is_no_error() -> None:
    assert the_word([*clean_runs([1.0] * 5), *[run(0.0, i) for i in range(5)]]).counts
    assert not the_word([*clean_runs([1.0] * 5), *[run(1.0, i) for i in range(5)]]).counts


def test_fewer_than_five_seeds_decide_nothing() -> None:
    assert the_word([*clean_runs([100.0] * 5), *[run(0.0, i) for i in range(4)]]).reason == "too few runs"
    assert the_word([*clean_runs([100.0] * 4), *[run(0.0, i) for i in range(5)]]).reason == "too few runs"


def test_starts_are_judged_apart() -> None:
    runs = clean_runs([99, 100, 101, 100, 100])
    runs += [run(0.0, i) for i in range(5)] + [run(100.0, i + 5, frac=0.5) for i in range(5)]
    words = {word.start: word.counts for word in gate.judged_all(runs)}
    assert words == {"start": True, "midway": False}


def test_trainings_that_die_count() -> None:
    runs = [run(None, i, died="ValueError: NaN") for i in range(5)]
    assert the_word([*clean_runs([100.0] * 5), *runs]).counts


def test_scores_that_are_no_numbers_count_as_dead() -> None:
    runs = [run(float("nan"), i) for i in range(5)]
    word = the_word([*clean_runs([100.0] * 5), *runs])
    assert word.counts
    assert word.died == 5


def test_faults_of_the_protocol_are_judged_by_their_own_quantity() -> None:
    def with_lag(lag: float, seed: int, fault: str | None) -> Any:
        keys = {"async/staleness_mean": [[10, 80, 100], [9.0, lag, lag + 0.1 * seed]]}
        return run(50.0, seed, fault=fault, keys=keys)

    clean = [with_lag(1.0, i, None) for i in range(5)]
    assert the_word([*clean, *[with_lag(4.0, i, PROTOCOL) for i in range(5)]]).counts
    assert not the_word([*clean, *[with_lag(1.0, i, PROTOCOL) for i in range(5)]]).counts


def test_the_page_lists_what_was_turned_down_with_its_figure(tmp_path: Path) -> None:
    for one in [*clean_runs([99, 100, 101, 100, 100]), *[run(100.0, i) for i in range(5)]]:
        write_run(tmp_path, one)
    gate.write_gate(tmp_path)
    (word,) = json.loads((tmp_path / "gate.json").read_text(encoding="utf-8"))
    assert word["counts"] is False
    assert word["times"] == 0.0
    assert "reward-flipped | ppo CartPole-v1 | start | 100 | 100" in (tmp_path / "gate.md").read_text(encoding="utf-8")


def test_what_the_screen_turned_down_is_listed_with_its_figure() -> None:
    clean = clean_runs([90, 95, 100, 105, 110])
    down, open_still = (
        gate.judged_all([*clean, *[run(96.0, i) for i in range(2)]]),
        [run(0.0, i, frac=0.5) for i in (0, 1)],
    )
    (word,) = down
    assert word.reason == gate.SCREENED
    assert word.times == pytest.approx(4 / slow_deviation([90, 95, 100, 105, 110]))
    assert not word.counts
    (other,) = gate.judged_all([*clean, *open_still])
    assert other.reason == gate.TOO_FEW
    text = gate.page([word, other])
    assert "1 more were turned down at the screen" in text
    assert "| reward-flipped | ppo CartPole-v1 | start | 100 | 96 | 7.91 | 0.506 | turned down at the screen |" in text
    assert "1 passed it, and the other seeds were not made" in text


def test_the_screen_lets_through_what_differs() -> None:
    clean = clean_runs([90, 100, 110])
    assert gate.promising(clean, [run(80.0, 0), run(88.0, 1)])
    assert not gate.promising(clean, [run(80.0, 0), run(92.0, 1)])  # 14 lower on average; 15 are asked for
    assert not gate.promising(clean, [run(200.0, 0), run(200.0, 1)])
    assert gate.promising(clean, [run(95.0, 0, died="ValueError"), run(100.0, 1)])
    assert gate.promising(clean, [run(float("nan"), 0), run(100.0, 1)])  # it acts no more
    assert not gate.promising(clean, [])
