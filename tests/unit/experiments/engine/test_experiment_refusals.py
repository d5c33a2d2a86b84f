"""What is asked wrongly is refused before anything runs; what was edited by hand, or written at once, does no harm."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firstbreak.cli import main
from firstbreak.errors import UnknownNameError
from firstbreak.experiments import Subject, all_experiments
from firstbreak.experiments.api import run_experiment
from firstbreak.experiments.experiment import find_experiment
from firstbreak.experiments.options import insist_on_known
from firstbreak.experiments.plan import Protocol, plan
from firstbreak.experiments.result import FOLDER, Result, read, read_all, write_plan
from firstbreak.experiments.running.here import Here

TOYS = "tests.unit.experiments.control.toy_trainers"
ORACLE = ("experiment", "oracle-against-random", "--env", f"{TOYS}:arms", "--with", f"expert={TOYS}:last_arm")
TRAINED = ("experiment", "reversed-reward", f"{TOYS}:good", "--env", f"{TOYS}:arms")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*ORACLE, "--with", "epsodes=40"), "Did you mean 'episodes'"),
        ((*ORACLE, "--with", "expect=400"), "oracle-against-random does not read expect"),
        ((*TRAINED, "--with", "expert=x"), "reversed-reward does not read expert"),
        ((*TRAINED, "--with", "length=0"), "length=0 is not above 0"),
        ((*TRAINED, "--with", "env=x"), "No --with option named 'env'"),
        ((*TRAINED, "--with", "_setting=lr"), "No --with option named '_setting'"),
        (("settle", "runs", "--with", "expct=400"), "Did you mean 'expect'"),
        ((*ORACLE, "--jobs", "0"), "Give --jobs 1 or more"),
        ((*ORACLE, "--with", "episodes=many"), "episodes=many is no number"),
        ((*ORACLE, "--with", "episodes=-3"), "episodes=-3 is no whole number from 2 on"),
        ((*ORACLE, "--with", "episodes=2.5"), "episodes=2.5 is no whole number"),
        ((*TRAINED, "--with", "expect=nan"), "expect=nan is no number"),
        ((*TRAINED, "--with", "expect=true"), "expect=True is no number"),
        ((*TRAINED, "--with", "mode=best"), "One of: sampled, deterministic"),
        (("settle", "runs", "--with", "updates=0"), "updates=0 is no whole number from 1 on"),
        ((*ORACLE, "--budget", "-5"), "'-5' is not a number above 0"),
        ((*ORACLE, "--budget", "nan"), "'nan' is not a number above 0"),
        ((*TRAINED, "--trainer", f"{TOYS}:flipped"), "Two trainers were given"),
        ((*TRAINED, "--steps", "0"), "training of 0 steps is none"),
        ((*TRAINED, "--steps", "-5"), "training of -5 steps is none"),
        ((*TRAINED, "--set", "learning_rat=0.1"), "takes no learning_rat"),
        ((*ORACLE, "--run", "/dev/null/run"), "cannot be written"),
    ],
)
def test_it_is_refused(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(list(words)) == 2
    assert said in capsys.readouterr().err


@pytest.fixture
def made(tmp_path: Path) -> Path:
    subject = Subject(env=f"{TOYS}:arms", given={"expert": f"{TOYS}:last_arm"})
    run_experiment("oracle-against-random", subject, executor=Here(), folder=tmp_path / FOLDER)
    return next((tmp_path / FOLDER).glob("*.json"))


def other_verdict(data: dict[str, Any]) -> None:
    data["outcome"] = "confirmed"


def other_interval(data: dict[str, Any]) -> None:
    data["looks"][-1].update(lo=-1.0, hi=0.1, mean=0.0)
    data["outcome"] = "confirmed"


def other_reason(data: dict[str, Any]) -> None:
    data["why"] = "not_reproduced"


def fewer_effects(data: dict[str, Any]) -> None:
    data["effects"] = data["effects"][:1]


@pytest.mark.parametrize("edit", [other_verdict, other_interval, other_reason, fewer_effects])
def test_a_verdict_edited_by_hand_counts_for_nothing(made: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    assert isinstance(read(made), Result)
    data = json.loads(made.read_text("utf-8"))
    edit(data)
    made.write_text(json.dumps(data), "utf-8")
    problems: list[str] = []
    assert read_all(made.parent.parent, problems) == []
    assert problems
    assert "changed by hand" in problems[0]


def test_a_plan_that_was_not_carried_out_is_no_problem(tmp_path: Path) -> None:
    subject = Subject(env=f"{TOYS}:arms", given={"expert": f"{TOYS}:last_arm"})
    one = next(e for e in all_experiments() if e.name == "oracle-against-random")
    first = write_plan(plan(one, subject, Protocol(), "2026-01-01T00:00:00"), tmp_path / FOLDER)
    second = write_plan(plan(one, subject, Protocol(), "2026-01-01T00:00:00"), tmp_path / FOLDER)
    assert first != second
    problems: list[str] = []
    assert read_all(tmp_path, problems) == []
    assert not problems


def test_a_name_that_another_process_has_just_taken_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = Subject(env=f"{TOYS}:arms", given={"expert": f"{TOYS}:last_arm"})
    one = next(e for e in all_experiments() if e.name == "oracle-against-random")
    made = plan(one, subject, Protocol(), "2026-01-01T00:00:00")
    first = write_plan(made, tmp_path)
    monkeypatch.setattr(Path, "exists", lambda _: False)  # as both processes saw it
    assert write_plan(made, tmp_path) != first


def test_a_setting_that_the_error_speaks_of_is_blamed_and_no_other() -> None:
    from firstbreak.experiments.control.training import _blamed_setting  # pyright: ignore[reportPrivateUsage]

    said = "asked for 0 steps the trainer raises AssertionError: The learning rate schedule must be a float, not abc"
    assert "--set learning_rate=abc" in _blamed_setting(said, {"n_steps": 8, "learning_rate": "abc"})
    assert "--set lr=abc" in _blamed_setting(said, {"lr": "abc"})
    assert _blamed_setting(said, {"n_steps": 8, "device": "cpu"}) == ""


def test_a_star_is_explained_where_names_are_listed() -> None:
    with pytest.raises(UnknownNameError) as caught:
        insist_on_known({"zzz": 3}, find_experiment("zero-learning-rate"))
    assert "*" not in caught.value.hint
    assert "short_steps" in caught.value.hint
    assert "_setting after the name of a setting (your trainer's name for a setting: learning_rate_setting=my_lr)" in (
        caught.value.hint
    )
