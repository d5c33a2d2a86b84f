"""Experiments on language models that are really trained, in child processes; and a run settled from log to verdict."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from firstbreak.cli import main
from firstbreak.experiments import Subject
from firstbreak.experiments.api import run_experiment
from firstbreak.experiments.plan import Protocol
from firstbreak.experiments.result import FOLDER, Outcome, Result
from firstbreak.trainers.jsonl_log import log_jsonl
from tests.e2e import language_subjects
from tests.e2e.language_subjects import CAP, START, teach, train

pytestmark = pytest.mark.full
SUBJECTS = "tests/e2e/language_subjects.py"


@pytest.fixture(scope="module", autouse=True)
def start(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """The started model, taught once and read by every child process."""
    path = tmp_path_factory.mktemp("start") / "start.pt"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(START, str(path))
        teach(path)
        yield path


def conducted(name: str, trainer: str, updates: int, **settings: Any) -> Result:
    subject = Subject(f"{SUBJECTS}:{trainer}", steps=updates, settings=settings)
    return run_experiment(name, subject, Protocol(seeds=3))


def test_wrong_labels_are_told_from_a_trainer_that_does_not_learn() -> None:
    data = conducted("train-on-test", "train_mislabelled", 25)
    assert data.outcome is Outcome.CONFIRMED, (data.words, data.effects, data.controls)
    trainer = conducted("train-on-test", "train_frozen", 4)
    assert trainer.outcome in (Outcome.REFUTED, Outcome.INCONCLUSIVE), trainer.words
    assert abs(sum(trainer.effects)) / 3 < 0.2, "without learning, rises differ by chance only"


def test_asynchronous_training_is_compared_with_synchronous() -> None:
    result = conducted("sync-vs-async", "train", 4, kind="AsyncGRPO", max_staleness=3)
    assert result.used["control"]["max_staleness"] == 3
    assert result.used["changed"]["max_staleness"] == 0
    assert result.controls[0]["staleness"] > 0
    assert result.pairs, result.words
    assert result.pairs[0].changed["staleness"] == 0


def test_a_run_is_settled_from_its_log_to_a_convicted_cause(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    log = log_jsonl(run / "metrics.jsonl", algorithm="GRPO", clock="updates")
    train(updates=30, seed=0, log=log, max_new_tokens=CAP)
    prompts = tmp_path / "prompts.jsonl"
    rows = [{"prompt": f"P{letter}>", "answer": letter} for letter in "abcdef"]
    prompts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = [f"generate={SUBJECTS}:generate", f"prompts={prompts}", f"cap={CAP}"]

    def settle(*more: str) -> tuple[int, dict[str, Any]]:
        capsys.readouterr()
        options = [word for one in given for word in ("--with", one)]
        status = main(["settle", str(run), "--format", "json", *options, *more])
        return status, json.loads(capsys.readouterr().out)["runs"][0]

    status, before = settle()
    assert status == 3
    names = [c["name"] for c in before["causes"]]
    assert {"responses-cut-off", "silent-groups"} <= set(names), names
    ready = [step for step in before["settle"]["steps"] if not step["lacks"]]
    assert [step["experiment"] for step in ready] == ["longer-cap"]
    assert ready[0]["command"].endswith(f"--run {run}")

    status, after = settle("--go")
    assert [m["outcome"] for m in after["settle"]["moves"]] == ["confirmed"]
    assert after["causes"][0]["name"] == "responses-cut-off"
    assert after["settle"]["convicted"] == ["responses-cut-off"]
    assert status == 1
    assert len(list((run / FOLDER).glob("*.json"))) == 1
    _, again = settle()
    assert again["settle"]["convicted"] == ["responses-cut-off"], "what is recorded beside the run is found again"
    assert again["run"]["steps"] == before["run"]["steps"], "records of experiments are not taken for a log"


def test_the_subjects_write_what_they_are_asked_for() -> None:
    groups = language_subjects.generate(["Pa>", "Pb>"], n=2, max_tokens=6, seed=0)
    assert [len(g) for g in groups] == [2, 2]
    assert language_subjects.score("Pa>", "~=a", "a") == 1.0
