"""Where the control has only to show the symptom, the first seed does that; of others the changed arm alone is made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from firstbreak.experiments import Subject
from firstbreak.experiments.api import run_experiment
from firstbreak.experiments.catalogue.zero_learning_rate import SHARE, costing, usual_steps
from firstbreak.experiments.catalogue.zero_learning_rate import measure as zero_learning_rate
from firstbreak.experiments.experiment import Experiment, Measures
from firstbreak.experiments.plan import Protocol, plan
from firstbreak.experiments.result import FOLDER, Outcome, Result, Why, agrees, read_all
from firstbreak.experiments.running.executor import Local
from firstbreak.experiments.running.here import Here
from firstbreak.report.experiment.text import announce, render

from .toy_experiments import toy_once


def go(one: Experiment = toy_once, executor: Any = None, folder: Path | None = None, **given: Any) -> Result:
    seeds = given.pop("seeds", None)
    subject = Subject(given={"sd": 0.0, **given})
    return run_experiment(one, subject, Protocol(first_seed=7, seeds=seeds), executor=executor or Here(), folder=folder)


@pytest.mark.parametrize("executor", [Here(), Local(1), Local(2)], ids=["here", "child", "children"])
def test_only_the_first_seed_measures_its_control(executor: Any) -> None:
    result = go(executor=executor)
    assert (result.outcome, result.trials) == (Outcome.REFUTED, 2)
    assert sorted((p.seed, p.control["seed"], p.changed["seed"]) for p in result.pairs) == [(7, 7, 7), (8, 7, 8)]
    assert len(result.controls) == 1
    assert agrees(result)


def test_the_report_says_whose_control_it_is() -> None:
    assert "The control was measured with seed 7 alone" in render(go())


def test_further_seeds_are_of_the_changed_arm_too() -> None:
    result = go(seeds=4)
    assert [p.control["seed"] for p in result.pairs] == [7] * 4
    assert [p.changed["seed"] for p in result.pairs] == [7, 8, 9, 10]


def test_without_the_first_control_nothing_is_concluded() -> None:
    result = go(fails=[7], seeds=9)
    assert (result.outcome, result.why) == (Outcome.INCONCLUSIVE, Why.TRIALS_FAILED)
    assert not result.pairs


def test_a_further_seed_that_fails_is_made_up_for_where_most_do_not() -> None:
    result = go(fails=[9], seeds=4)
    assert result.outcome is Outcome.REFUTED
    assert [p.seed for p in result.pairs][:3] == [7, 8, 10]


def test_a_control_without_the_symptom_is_reported_first() -> None:
    def well(controls: list[Measures], subject: Subject) -> str:
        return "" if controls[0]["seed"] != 7 else "it is well."

    result = go(replace(toy_once, reading=replace(toy_once.reading, symptom=well)))
    assert (result.outcome, result.why) == (Outcome.INCONCLUSIVE, Why.NOT_REPRODUCED)


@pytest.mark.parametrize("executor", [Here(), Local(2)], ids=["here", "children"])
def test_a_further_seed_may_be_the_one_that_proves_it(executor: Any) -> None:
    one = replace(toy_once, reading=replace(toy_once.reading, exact=True, one_proves=True))
    subject = Subject(given={"sd": 0.0, "shown_by": 8})
    result = run_experiment(one, subject, Protocol(first_seed=7), executor=executor)
    assert result.outcome is Outcome.CONFIRMED
    assert "with seed 8" in result.words
    assert agrees(result)


def test_it_is_read_back(tmp_path: Path) -> None:
    made = go(folder=tmp_path / FOLDER)
    assert read_all(tmp_path) == [made]


def test_the_plan_of_zero_learning_rate_tells_what_a_long_trial_costs() -> None:
    """Before the run: an own training of the usual length, and one with rate 0 for each of two seeds."""
    assert zero_learning_rate.control_once
    short, rare = Subject("m:train", "E", 40_000), Subject("m:train", "E", 40_000, given={"short_steps": 6656})
    assert costing(short).runs == pytest.approx(1.5 * SHARE)
    assert costing(rare).runs == pytest.approx((usual_steps(40_000) / 2 + 6656) / 40_000, abs=1e-4)
    assert "6,656 of 40,000 steps" in " ".join(announce(plan(zero_learning_rate, rare, Protocol())).split())
    assert costing(Subject("m:train", "E")).runs == pytest.approx(1.5 * SHARE)
