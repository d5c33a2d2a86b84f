"""What could be reached, against slow twins on runs made up by Hypothesis, and on cases that are plain."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from hypothesis import given, settings

from benchmarks.faults.scoring.answer import Answer
from benchmarks.faults.scoring.assessing import FIRSTBREAK, Assessed, rows_between
from benchmarks.faults.scoring.bands import Left, halves_of
from benchmarks.faults.scoring.catalogue import Fault
from benchmarks.faults.scoring.ceilings import (
    any_of_the_other_half,
    best_of_the_other_half,
    ceilings,
    named_by_other_seeds,
    nearly_in_time,
    rows_before_lost,
    seen_before_lost,
)
from benchmarks.faults.scoring.losing import Loss
from benchmarks.faults.scoring.page import ceilings_table

from .made import runs
from .recorded import recorded


def plain(left: Left | None) -> list[str]:
    return sorted({name.split("@")[0] for name in left.metrics}) if left else []


@given(runs)
@settings(max_examples=60, deadline=None)
def test_the_halves_are_asked_as_a_tool_is(many: list[Assessed]):
    shares: list[float] = []
    common = 0
    for run in many:
        if run.fault is None or run.measured is None or run.by_halves is None:
            continue
        one, other = plain(run.by_halves[0]), plain(run.by_halves[1])
        hits = [sum(name in other for name in one) / len(one) if one else 0.0]
        hits.append(sum(name in one for name in other) / len(other) if other else 0.0)
        shares.append(sum(hits) / 2)
        common += any(name in other for name in one)
    found, best = any_of_the_other_half(many), best_of_the_other_half(many)
    assert found.n == best.n == len(shares)
    if shares:
        assert math.isclose(found.value, sum(shares) / len(shares), abs_tol=1e-12)
        assert best.hits == common


@given(runs)
@settings(max_examples=60, deadline=None)
def test_other_seeds_vote(many: list[Assessed]):
    shares: list[float] = []
    for run in many:
        if run.fault is None or run.measured is None:
            continue
        others = [
            other for other in many if other is not run and other.fault is not None and other.measured is not None
            and (other.fault.id, other.subject, other.task, other.mid_run)
            == (run.fault.id, run.subject, run.task, run.mid_run)
        ]  # fmt: skip
        if not others:
            continue
        votes = [name for other in others for name in plain(other.measured)]
        top = max(votes.count(name) for name in votes)
        winners = sorted({name for name in votes if votes.count(name) == top})
        shares.append(sum(name in plain(run.measured) for name in winners) / len(winners))
    found = named_by_other_seeds(many)
    assert found.n == len(shares)
    if shares:
        assert math.isclose(found.value, sum(shares) / len(shares), abs_tol=1e-12)


@given(runs)
@settings(max_examples=60, deadline=None)
def test_rows_and_bands_before_the_loss(many: list[Assessed]):
    lost = [run for run in many if run.fault and run.loss and run.loss.collapsed and not math.isnan(run.loss.lost_at)]
    counted = [run for run in lost if run.rows_to_loss is not None]
    assert rows_before_lost(many, 2).n == len(counted)
    assert (rows_before_lost(many, 2).hits or 0) == sum((run.rows_to_loss or 0) > 1 for run in counted)
    near = 0
    for run in lost:
        right = [a.at for a in run.live or () if a.at >= run.start and run.fault and set(a.links) & run.fault.links]
        near += bool(right) and run.loss is not None and right[0] <= run.loss.lost_at + run.loss.window
    assert (nearly_in_time(many).hits or 0) == near
    for places in (1, 2):
        good = sum(
            run.measured is not None and run.loss is not None
            and run.measured.at + (0 if places == 1 else run.end / 60) <= run.loss.lost_at
            for run in lost
        )  # fmt: skip
        assert (seen_before_lost(many, places).hits or 0) == good


def fault_run(seed: int, first: str, halves: tuple[str, str]) -> Assessed:
    one, other = (Left((name,), 30.0) for name in halves)
    return Assessed(
        id=str(seed), subject="s", framework="sb3", algorithm="PPO", task="t", kind="fault", seed=seed, half="held",
        fault=Fault("f", "critic"), start=20.0, mid_run=True, end=60.0, cadence=1.0,
        answers={FIRSTBREAK: Answer("undecided")}, measurable=True, measured=Left((first,), 30.0),
        by_halves=(one, other), loss=Loss(True, 30.0, True), rows_to_loss=10,
    )  # fmt: skip


def test_halves_that_agree_reach_all_and_halves_that_differ_nothing():
    same = [fault_run(seed, "a", ("a", "a@rank=1")) for seed in range(2)]
    other = [fault_run(seed, "a", ("a", "b")) for seed in range(2)]
    assert any_of_the_other_half(same).value == best_of_the_other_half(same).value == 1
    assert any_of_the_other_half(other).value == best_of_the_other_half(other).value == 0
    assert named_by_other_seeds(same).value == 1


def test_what_leaves_at_the_loss_is_seen_by_who_needs_no_second_place():
    (run,) = [fault_run(0, "a", ("a", "a"))]
    assert seen_before_lost([run], 1).value == 1
    assert seen_before_lost([run], 2).value == 0
    assert rows_before_lost([run, replace(run, rows_to_loss=0)], 1).hits == 1


def test_six_twins_make_two_halves_and_five_do_not():
    step = np.arange(10.0, 1001, 10.0)
    twins = [({"a": (step, np.random.default_rng(k).normal(size=step.size))}, 1000.0) for k in range(6)]
    halves = halves_of(twins)
    assert halves is not None
    assert [set(half) for half in halves] == [{"a"}, {"a"}]
    assert not np.array_equal(halves[0]["a"].twins, halves[1]["a"].twins)
    assert halves_of(twins[:5]) is None


def test_rows_are_counted_after_the_fault_up_to_the_loss():
    from benchmarks.faults.scoring.logs import load_log

    log = load_log(recorded("clean/0"))
    steps = sorted({float(step) for series in log.series for step in series.step})
    assert rows_between(log, steps[3], steps[7]) == 4
    assert rows_between(log, steps[3], steps[3]) == 0


def test_the_page_says_all_of_it_in_words():
    many = [fault_run(seed, "a", ("a", "a")) for seed in range(2)]
    shown = ceilings_table(many)
    assert all(what in shown for what, _ in ceilings(many))
    assert "100.0 %" in shown
