"""`reversed-reward` in stages: what a quarter of the run decides, what it must not decide, and what slower steps do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from firstbreak.experiments import Subject
from firstbreak.experiments.api import run_experiment
from firstbreak.experiments.plan import Protocol
from firstbreak.experiments.result import Outcome, Result, Why
from firstbreak.experiments.running.here import Here

TOYS, TURNING = "tests.unit.experiments.control.toy_trainers", "tests.unit.experiments.control.turning_trainers"


def go(trainer: str, *, alpha: float = 0.05, **given: Any) -> Result:
    subject = Subject(trainer, f"{TOYS}:arms", None, {}, given)
    return run_experiment("reversed-reward", subject, Protocol(alpha=alpha, most=10), executor=Here())


def test_a_flip_shows_in_a_quarter_of_the_run_and_the_verdict_says_so() -> None:
    short, whole = go(f"{TOYS}:flipped"), go(f"{TOYS}:flipped", length=1)
    assert short.outcome is whole.outcome is Outcome.CONFIRMED
    assert short.plan.subject.given["length"] == 0.25
    assert "a quarter of the run's steps" in short.words
    assert short.env_steps < whole.env_steps / 2
    assert short.plan.alpha == 0.025
    assert whole.plan.alpha == 0.05


def test_what_rises_at_first_is_asked_anew_over_the_whole_run() -> None:
    result = go(f"{TOYS}:good", expect=2.0)
    assert result.outcome is Outcome.REFUTED
    assert "length" not in result.plan.subject.given
    assert any("left open by another stage: The control does not show the symptom" in note for note in result.notes)
    assert result.plan.alpha == 0.0125  # the rest is for the other stages


def test_a_trainer_that_turns_round_late_is_not_acquitted_by_its_beginning() -> None:
    result = go(f"{TURNING}:turncoat")
    assert result.outcome is not Outcome.REFUTED, result.words
    assert "length" not in result.plan.subject.given
    quarter = go(f"{TURNING}:turncoat", length=0.25)
    assert quarter.why is Why.NOT_REPRODUCED  # asked for the quarter alone, it is not judged either


@pytest.mark.parametrize(("trainer", "wanted"), [("hasty", Outcome.REFUTED), ("hasty_flipped", Outcome.CONFIRMED)])
def test_steps_that_lead_down_either_way_are_made_shorter(trainer: str, wanted: Outcome) -> None:
    result = go(f"{TURNING}:{trainer}", expect=2.0)
    assert result.outcome is wanted, result.words
    assert result.plan.subject.given["rate"] == 0.1
    assert "its learning rate times 0.1 in both arms" in result.words
    assert result.plan.alpha == 0.05 / 8


def test_a_rate_that_cannot_be_lowered_leaves_the_answer_of_the_first_stage() -> None:
    result = go(f"{TURNING}:hasty_alone")
    assert result.why is Why.NOT_SENSITIVE
    assert any("its learning rate cannot be lowered" in note for note in result.notes), result.notes


def test_a_trainer_that_stands_still_is_asked_once_more_over_the_whole_run() -> None:
    result = go(f"{TOYS}:frozen")
    assert result.why is Why.NOT_SENSITIVE
    assert "as long as the run" in result.words


def test_no_stage_begins_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 1.0, 2000.0])
    monkeypatch.setattr("firstbreak.experiments.api.time", SimpleNamespace(monotonic=lambda: next(clock)))
    subject = Subject(f"{TOYS}:frozen", f"{TOYS}:arms")
    result = run_experiment("reversed-reward", subject, executor=Here(), seconds=1000.0)
    assert result.why is Why.NOT_SENSITIVE
    assert "as long as the run" not in result.words
    assert any("was over before another stage" in note for note in result.notes)


@pytest.mark.parametrize(
    ("trainer", "given"), [(f"{TOYS}:flipped", {"length": 1}), (f"{TURNING}:hasty_flipped", {"rate": 0.1})]
)
def test_who_says_how_long_or_how_slow_gets_no_stages(trainer: str, given: dict[str, Any]) -> None:
    result = go(trainer, **given)
    assert result.outcome is Outcome.CONFIRMED
    assert "quarter" not in result.words
