"""Ctrl-C in the middle of a command: nothing is left running, and one line says what was kept and how to go on."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from firstbreak.cli import main

TRAINER = """
import os, signal
import numpy as np

def train(make_env, *, total_steps, seed):
    if total_steps and seed == 2:
        os.kill(int(os.environ["STOPPED_PID"]), signal.SIGINT)
    return Agent()

class Agent:
    def act(self, observation, deterministic=False):
        return 0

def shows(config, seed):
    if config["b"] != config["a"]:
        os.kill(int(os.environ["STOPPED_PID"]), signal.SIGINT)
    return config["a"] == 1
"""
TOYS = "tests.unit.experiments.control.toy_trainers"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "mine.py").write_text(TRAINER)
    (tmp_path / "bad.json").write_text(json.dumps({"a": 1, "b": 1}))
    (tmp_path / "good.json").write_text(json.dumps({"a": 0, "b": 0}))
    monkeypatch.setenv("STOPPED_PID", str(os.getpid()))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background of a shell ignores it
    yield tmp_path
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("recorded", [True, False])
def test_an_experiment(here: Path, recorded: bool, capsys: pytest.CaptureFixture[str]) -> None:
    more = ["--run", str(here / "run")] if recorded else []
    words = ["experiment", "reversed-reward", f"{here}/mine.py:train", "--env", f"{TOYS}:arms", "--steps", "10", *more]
    assert main(words) == 128 + signal.SIGINT
    said = capsys.readouterr().err
    assert "Stopped after" in said
    assert "without a verdict" in said
    assert ("is kept in" in said, "--run DIR records" in said) == (recorded, not recorded)
    if recorded:
        (file,) = (here / "run" / "firstbreak-experiments").glob("*.json")
        found = json.loads(file.read_text())
        assert (found["outcome"], found["why"]) == ("inconclusive", "interrupted")
        assert str(file) in said


@pytest.mark.parametrize("recorded", [True, False])
def test_a_configuration_that_shrinks(here: Path, recorded: bool, capsys: pytest.CaptureFixture[str]) -> None:
    more = ["--journal", str(here / "j.jsonl")] if recorded else []
    words = ["shrink", f"{here}/mine.py:shows", "--bad", str(here / "bad.json"), "--good", str(here / "good.json")]
    assert main([*words, "--sure", *more]) == 128 + signal.SIGINT
    said = capsys.readouterr().err
    assert "Stopped after 2 runs" in said
    assert ("They are kept in" in said, "--journal FILE would" in said) == (recorded, not recorded)
    if recorded:
        assert len((here / "j.jsonl").read_text().splitlines()) == 2
