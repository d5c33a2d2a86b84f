"""Where one exact pair proves the hypothesis, no further seed is asked; nothing else is decided by one seed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firstbreak.experiments import Subject
from firstbreak.experiments.api import run_experiment
from firstbreak.experiments.catalogue.zero_learning_rate import measure as zero_learning_rate
from firstbreak.experiments.experiment import Measures
from firstbreak.experiments.plan import Protocol
from firstbreak.experiments.result import FOLDER, Outcome, Result, Why, agrees, read, read_all
from firstbreak.experiments.running.executor import Local
from firstbreak.experiments.running.here import Here
from firstbreak.isolation import Limits
from firstbreak.report.experiment.json import document
from firstbreak.report.experiment.text import announce, render

from .toy_experiments import toy_together

PROOF = replace(toy_together, reading=replace(toy_together.reading, margin=1.0, exact=True, one_proves=True), pilot=2)


def go(one: Any = PROOF, executor: Any = None, folder: Path | None = None, **given: Any) -> Result:
    settings = {k: given.pop(k) for k in ("seeds", "margin") if k in given}
    subject = Subject(given={"sd": 0.0, **given})
    return run_experiment(one, subject, Protocol(**settings), executor=executor or Here(), folder=folder)


@pytest.mark.parametrize("executor", [Here(), Local(1)], ids=["here", "child"])
def test_the_first_seed_with_the_effect_proves_it(executor: Any) -> None:
    result = go(changed=3.0, executor=executor)
    assert (result.outcome, result.why, result.trials) == (Outcome.CONFIRMED, Why.DECIDED, 1)
    assert [p.seed for p in result.pairs] == [0]
    assert "with seed 0" in result.words
    assert "[" not in result.words, "an interval of one seed"
    assert agrees(result)


def test_a_later_seed_that_shows_it_is_named_and_no_mean_is_said() -> None:
    def lucky(control: Measures, changed: Measures) -> float:
        return changed["score"] if changed["score"] > 5 else 0.0

    shows = [seed for seed in range(50) if np.random.default_rng(seed).normal() > 0.5]
    late = next(seed for seed in shows if seed > 0 and seed - 1 not in shows)
    one = replace(PROOF, reading=replace(PROOF.reading, effect=lucky))
    subject = Subject(given={"sd": 10.0, "changed": 0.0})
    result = run_experiment(one, subject, Protocol(first_seed=late - 1), executor=Here())
    assert (result.outcome, result.trials) == (Outcome.CONFIRMED, 2)
    assert f"with seed {late}, of 2 made" in result.words
    assert "[" not in result.words
    assert agrees(result)


def test_that_it_does_not_happen_takes_the_whole_pilot() -> None:
    result = go(changed=0.0)
    assert (result.outcome, result.trials) == (Outcome.REFUTED, 2)


def test_without_it_one_seed_proves_nothing() -> None:
    one = replace(PROOF, reading=replace(PROOF.reading, one_proves=False))
    assert go(one, changed=3.0).trials == 2


def test_a_number_of_seeds_that_was_asked_for_is_made() -> None:
    result = go(changed=3.0, seeds=3)
    assert (result.trials, result.plan.one_proves) == (3, False)


def test_a_control_without_the_symptom_is_still_reported_first() -> None:
    def unwell(controls: list[Measures], subject: Subject) -> str:
        return "it is well."

    result = go(replace(PROOF, reading=replace(PROOF.reading, symptom=unwell)), changed=3.0)
    assert (result.outcome, result.why) == (Outcome.INCONCLUSIVE, Why.NOT_REPRODUCED)


def test_the_users_margin_is_what_has_to_be_beaten() -> None:
    assert go(changed=2.0, margin=5.0).outcome is Outcome.REFUTED


def test_it_is_read_back_and_an_edited_one_is_found(tmp_path: Path) -> None:
    made = go(changed=3.0, folder=tmp_path / FOLDER)
    (path,) = (tmp_path / FOLDER).glob("*.json")
    assert read(path) == made
    assert read_all(tmp_path) == [made]
    data = json.loads(path.read_text("utf-8"))
    data["effects"] = [0.0]
    path.write_text(json.dumps(data), "utf-8")
    problems: list[str] = []
    assert not read_all(tmp_path, problems)
    assert "changed by hand" in problems[0]


def test_a_refutation_by_a_single_seed_is_not_believed() -> None:
    made = go(changed=3.0)
    assert not agrees(replace(made, outcome=Outcome.REFUTED))
    assert not agrees(replace(made, effects=(0.0,), outcome=Outcome.REFUTED))


def test_every_face_says_one_seed_and_no_interval() -> None:
    result = go(changed=3.0)
    evidence = document(result)["findings"][0]["evidence"]
    assert evidence["pairs"] == 1
    assert "effect_lo" not in evidence
    assert "one pair of seeds where it shows the effect, else 2 to 20" in " ".join(announce(result.plan).split())
    assert "inf" not in render(result)


def test_zero_learning_rate_is_such_an_experiment() -> None:
    assert zero_learning_rate.reading.one_proves
    assert zero_learning_rate.reading.exact


def test_trials_of_two_processes_end_when_one_has_proved_it() -> None:
    result = run_experiment(
        PROOF, Subject(given={"sd": 0.0, "changed": 3.0}), executor=Local(2), limits=Limits(seconds=60.0)
    )
    assert result.outcome is Outcome.CONFIRMED
    assert 1 <= result.trials <= 2
    assert agrees(result)
