"""`firstbreak diagnose` after experiments were recorded beside the run: causes moved, and the reason said."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import firstbreak
from firstbreak.api import diagnose_runs
from firstbreak.cli import main
from firstbreak.experiments.result import FOLDER, Outcome, Result, write
from firstbreak.experiments.settle.api import settle_run, settle_runs
from firstbreak.experiments.settle.beside import with_experiments
from firstbreak.finding import Link
from tests.unit.experiments.settle.story import case_of, result

DEMO = Path(firstbreak.__file__).parent / "data" / "demo" / "sb3_ppo_lr01"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return a copy of the demo that was written long ago: a log written this minute, as by a checkout, is still
    running to the command, which knows the time, and some rules wait for a run's end."""
    copied = Path(shutil.copytree(DEMO, tmp_path / "run"))
    for file in copied.iterdir():
        os.utime(file, (0, 0))
    return copied


def record(run: Path, *results: Result) -> None:
    (run / FOLDER).mkdir(exist_ok=True)
    for number, one in enumerate(results):
        write(one, run / FOLDER / f"{one.name}-{number}.json")


def diagnosed(capsys: pytest.CaptureFixture[str], path: Path) -> list[dict[str, Any]]:
    capsys.readouterr()
    main(["diagnose", str(path), "--format", "json"])
    return json.loads(capsys.readouterr().out)["runs"]


def scores(entry: dict[str, Any]) -> dict[str, float]:
    return {c["name"]: c["score"] for c in entry["causes"]}


def test_a_verdict_raises_and_lowers_the_causes_that_diagnose_names(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (before,) = diagnosed(capsys, run)
    assert before["tried"] == []
    record(run, result("one-epoch-one-minibatch"))
    (after,) = diagnosed(capsys, run)
    assert scores(after)["update-too-large"] > scores(before)["update-too-large"]
    assert after["tried"] == ["one-epoch-one-minibatch confirmed: update-too-large +3.47 points"]
    record(run, result("one-epoch-one-minibatch", Outcome.REFUTED), result("reversed-reward", Outcome.REFUTED))
    (after,) = diagnosed(capsys, run)
    assert scores(after)["update-too-large"] == scores(before)["update-too-large"], "single steps may be too long"
    gone = scores(before).keys() & {"reward-sign", "advantage-sign"}
    assert gone
    assert not gone & scores(after).keys()


def asked(entry: dict[str, Any]) -> set[str]:
    return {look["experiment"] for cause in entry["causes"] for look in cause["confirm_with"]}


def test_what_was_made_is_said_on_the_first_screen_and_not_asked_for_again(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (before,) = diagnosed(capsys, run)
    record(run, result("one-epoch-one-minibatch"))
    (after,) = diagnosed(capsys, run)
    assert asked(before) - asked(after) == {"one epoch"}
    main(["diagnose", str(run)])
    assert "tried   one-epoch-one-minibatch confirmed: update-too-large +3.47" in capsys.readouterr().out


def test_open_ones_and_those_edited_by_hand_move_nothing_and_are_said(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (before,) = diagnosed(capsys, run)
    record(run, result("one-epoch-one-minibatch", Outcome.INCONCLUSIVE), result("batch-x4"))
    edited = run / FOLDER / "batch-x4-1.json"
    edited.write_text(edited.read_text("utf-8").replace('"confirmed"', '"refuted"'), "utf-8")
    (after,) = diagnosed(capsys, run)
    assert scores(after) == scores(before)
    assert "inconclusive" in after["tried"][0]
    assert "changed by hand" in after["tried"][1]


def test_runs_in_one_folder_do_not_share_an_experiment(tmp_path: Path) -> None:
    record(tmp_path, result("low-precision"))
    alone = case_of("timeouts-scored")
    one, other = (replace(alone, log=replace(alone.log, path=str(tmp_path / name))) for name in ("a.jsonl", "b.jsonl"))
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).touch()
    assert [c.name for d in with_experiments([one]) for c in d.causes if c.link is Link.NUMERICS]
    for found in with_experiments([one, other]):
        assert found.causes == alone.causes
        assert "none is weighed" in found.tried[0]
    assert with_experiments([alone]) == [alone]


def test_python_and_the_command_say_the_same(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(run, result("one-epoch-one-minibatch"))
    (entry,) = diagnosed(capsys, run)
    for found in (firstbreak.diagnose(run), firstbreak.diagnose(firstbreak.load(run)), *diagnose_runs(run)):
        assert list(found.tried) == entry["tried"]
        assert {c.name: c.score for c in found.causes} == scores(entry)
    (bare,) = diagnose_runs(run, weigh=False)
    assert bare.tried == ()


def test_python_and_the_command_say_the_same_of_a_run_that_goes_on(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in run.iterdir():
        os.utime(file)
    (entry,) = diagnosed(capsys, run)
    found = firstbreak.diagnose(run)
    assert found.log.state == entry["run"]["state"] == "running"
    assert {f.name for f in found.findings} == {f["name"] for f in entry["findings"]}
    assert {f.name for f in firstbreak.diagnose(firstbreak.load(run)).findings} > {f.name for f in found.findings}


def test_numbers_in_memory_are_not_settled_by_what_lies_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(tmp_path, result("one-epoch-one-minibatch"))
    monkeypatch.chdir(tmp_path)
    assert firstbreak.diagnose({"policy/kl_old": [0.01] * 10 + [3.0] * 10}, config={"algorithm": "PPO"}).tried == ()


def test_settle_weighs_nothing_where_several_runs_share_the_experiments(tmp_path: Path) -> None:
    alone = case_of("timeouts-scored")
    runs = [replace(alone, log=replace(alone.log, path=str(tmp_path / name))) for name in ("a.jsonl", "b.jsonl")]
    for run in runs:
        Path(run.log.path).touch()
    record(tmp_path, result("low-precision"))
    assert settle_runs(runs[:1])[0].settled.moves
    for settling in settle_runs(runs):
        assert settling.settled.diagnosis == settling.settled.before
        assert "none is weighed" in settling.problems[0]


def test_a_run_of_several_in_one_file_is_settled_by_the_folder_of_the_file(tmp_path: Path) -> None:
    record(tmp_path, result("low-precision"))
    (tmp_path / "runs.jsonl").touch()
    alone = case_of("timeouts-scored")
    one = replace(alone, log=replace(alone.log, path=str(tmp_path / "runs.jsonl#3")))
    assert with_experiments([one])[0].tried
    assert settle_run(one).results
