"""`firstbreak settle`: what is recorded beside a run moves its causes, and the next step can be typed as it stands."""

from __future__ import annotations

import json
import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import firstbreak
from firstbreak.cli import main
from firstbreak.experiments import Subject
from firstbreak.experiments.experiment import find_experiment
from firstbreak.experiments.result import FOLDER, Outcome, Result, Why, write
from firstbreak.experiments.settle.api import settle_run
from firstbreak.experiments.settle.steps import command_of
from firstbreak.report.json import dumps
from firstbreak.report.page import Face
from firstbreak.report.settle.json import settle_document
from firstbreak.report.settle.text import render
from tests.unit.experiments.settle.story import case_of, result

DEMO = Path(firstbreak.__file__).parent / "data" / "demo" / "sb3_ppo_lr01"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "runs" / "ppo run"
    shutil.copytree(DEMO, folder)
    return folder


def record(run: Path, one: Result) -> None:
    (run / FOLDER).mkdir(exist_ok=True)
    write(one, run / FOLDER / f"{one.name}-{len(list((run / FOLDER).iterdir()))}.json")


def said(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    capsys.readouterr()
    status = main(["settle", *map(str, arguments)])
    heard = capsys.readouterr()
    return status, heard.out, heard.err


def test_without_a_trainer_there_is_a_recipe_and_what_to_give(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = said(capsys, run)
    assert status == 3
    assert "next    one-epoch-one-minibatch" in out
    assert "by hand: Rerun briefly with one epoch per batch" in out
    assert "give trainer:" in out
    assert (
        f"firstbreak experiment one-epoch-one-minibatch TRAINER --env ENV --with logged_kl=35.56 --run '{run}'" in out
    )


def test_with_a_trainer_the_command_can_be_typed_as_it_stands(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = ["--trainer", "sb3:PPO", "--env", "CartPole-v1", "--set", "learning_rate=0.1", "--format", "json"]
    status, out, _ = said(capsys, run, *more)
    assert status == 3
    (step, *_) = json.loads(out)["runs"][0]["settle"]["steps"]
    words = shlex.split(step["command"])
    assert words[:4] == ["firstbreak", "experiment", "one-epoch-one-minibatch", "sb3:PPO"]
    assert words[-2:] == ["--run", str(run)]
    assert step["lacks"] == []
    assert step["bits_per_run"] == pytest.approx(step["bits"] / step["cost_runs"])


@pytest.mark.parametrize("trainer", ["nope", "nope.py:train", "torchrl:nope"])
def test_what_can_be_no_trainer_is_refused(trainer: str, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = said(capsys, run, "--trainer", trainer)
    assert (status, out) == (2, "")
    assert "nope" in err


def test_a_recorded_verdict_flows_back(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(run, result("one-epoch-one-minibatch"))
    status, out, _ = said(capsys, run, "--format", "json")
    (made,) = json.loads(out)["runs"]
    assert status == 1
    assert made["settle"]["convicted"] == ["update-too-large"]
    assert made["causes"][0]["score"] == pytest.approx(made["settle"]["before"][0]["score"] + 3.47)
    assert made["run"]["provenance"]["read"], "the log was read, not the record"
    assert not [p for p in made["run"]["provenance"]["read"] if FOLDER in p]
    status, out, _ = said(capsys, run)
    out = " ".join(out.split())
    assert "one-epoch-one-minibatch confirmed: speaks for it. As it was measured." in out
    assert "settled update-too-large: confirmed by experiment" in out


def test_a_log_file_has_its_experiments_beside_it(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(run, result("one-epoch-one-minibatch"))
    status, _, _ = said(capsys, run / "progress.csv")
    assert status == 1


def test_damaged_records_and_bare_plans_are_passed_over(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(run, result("one-epoch-one-minibatch"))
    (run / FOLDER / "torn.json").write_text('{"schema": 1, "plan"')
    (run / FOLDER / "plan.json").write_text('{"schema": 1, "plan": {}, "outcome": null}')
    (run / FOLDER / "list.json").write_text("[1, 2]")
    assert said(capsys, run)[0] == 1


def test_nothing_in_a_record_reaches_the_terminal_raw(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = replace(result("one-epoch-one-minibatch"), words="\x1b]0;title\x07[red]\u202eevil\x1b[2J\nNEXT")
    record(run, hostile)
    for face in ((), ("--format", "json")):
        _, out, _ = said(capsys, run, *face)
        assert "\x1b" not in out
        assert "\u202e" not in out
        assert "NEXT" in out


def test_go_needs_one_run_and_something_to_go_on(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = said(capsys, run, "--go")
    assert status == 2
    assert "No experiment can be made as it stands" in err
    assert "TRAINER: module:train" in err
    shutil.copytree(run, run.parent / "other")
    status, _, err = said(capsys, run.parent, "--go")
    assert status == 2
    assert "there are 2 here" in err


def test_a_healthy_run_has_nothing_to_settle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(DEMO.parent / "sb3_ppo_cartpole", tmp_path / "run")
    status, out, _ = said(capsys, tmp_path / "run")
    assert status == 0
    assert "no cause to look into" in out


def test_the_framework_s_own_keys_make_the_changed_arm() -> None:
    diagnosis = case_of("behaviour-weight-off-one")
    diagnosis = replace(diagnosis, log=replace(diagnosis.log, framework="areal"))
    settling = settle_run(diagnosis, Subject("train.py:train"), ())
    (step,) = [s for s in settling.steps if s.proposal.experiment.name == "sync-vs-async"]
    assert step.ready
    assert any("max_head_offpolicyness: 0" in line for patch in step.patches for line in patch.lines)
    assert "max_head_offpolicyness: 0" in render(settling)
    assert "max_head_offpolicyness: 0" in dumps(settle_document([settling]))


def test_what_is_left_out_says_why() -> None:
    diagnosis = case_of("all-truncated")
    unclear = result("longer-cap", Outcome.INCONCLUSIVE, needed=4)
    lost = result("group-size-x4", Outcome.INCONCLUSIVE, why=Why.NOT_REPRODUCED)
    text = render(settle_run(diagnosis, None, (unclear, lost)), Face(width=200))
    assert "longer-cap: inconclusive (too few seeds); about 4 pairs of seeds more would decide" in text
    assert "group-size-x4: inconclusive: its control did not show the symptom" in text
    assert "next    longer-cap" in text, "an open experiment is worth making again"
    assert text.isprintable() or "\n" in text


def test_values_are_quoted_for_the_shell() -> None:
    one = find_experiment("rescore-golden-set")
    subject = Subject(given={"samples": "a b; rm -rf x.jsonl"}, settings={"n": 3, "flag": True})
    words: list[Any] = shlex.split(command_of(one, subject, "runs/a run"))
    assert "samples=a b; rm -rf x.jsonl" in words
    assert words[3:7] == ["--set", "n=3", "--set", "flag=true"]
    assert "scorer=SCORER" in words
    assert words[-1] == "runs/a run"


def test_what_was_given_for_other_experiments_is_left_out_of_a_command() -> None:
    subject = Subject(
        "mine.py:train", "CartPole-v1", given={"generate": "a:b", "expect": 400, "learning_rate_setting": "x"}
    )
    words = command_of(find_experiment("zero-learning-rate"), subject, "runs")
    assert "--with learning_rate_setting=x" in words
    assert "generate" not in words
    assert "expect" not in words
