"""Trials in child processes: what the user's function does there is an answer, never an accident."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firstbreak.errors import FirstbreakError, InputError
from firstbreak.experiments.shrink import ClusterSymptom, child_symptom, shrink
from firstbreak.isolation import Limits

FUNCTIONS = """
import os
from firstbreak.errors import InputError

def learns_nothing(config, seed):
    if config.get("batch") == 0:
        raise ZeroDivisionError("batch")
    if config.get("odd"):
        raise InputError("refused by something within the run")
    print("noise" * 1000)
    return config["lr"] > 1 and config["clip"] is None

def crashes(config, seed):
    if config["half"] and config["large"]:
        raise FloatingPointError("overflow")
    if config["other"]:
        raise ValueError("another fault")
    return False

def dies(config, seed):
    os._exit(3)
"""


@pytest.fixture
def target(tmp_path: Path) -> str:
    path = tmp_path / "mine.py"
    path.write_text(FUNCTIONS)
    return str(path)


def test_what_a_run_answers_and_how_it_may_end(target: str) -> None:
    shows = child_symptom(f"{target}:learns_nothing", Limits(seconds=60))
    assert shows({"lr": 10, "clip": None}, 0) is True
    assert shows({"lr": 0.1, "clip": None}, 0) is False
    assert shows({"lr": 10, "clip": None, "batch": 0}, 0) is None, "another end is no answer"
    assert shows({"lr": 10, "clip": None, "odd": 1}, 0) is None
    assert child_symptom(f"{target}:dies")({}, 0) is None
    assert child_symptom(f"{target}:dies", crash="died")({}, 0) is True
    with pytest.raises(FirstbreakError, match="no_such"):
        child_symptom(f"{target}:no_such")({}, 0)


def test_runs_that_all_end_in_another_way_are_told_with_how(target: str) -> None:
    bad, good = {"lr": 10, "clip": None, "odd": 1}, {"lr": 0.1, "clip": None, "odd": 1}
    with pytest.raises(InputError, match=r"4 ended in another way \(raised: \w+"):
        shrink(bad, good, child_symptom(f"{target}:learns_nothing"))


def test_a_crash_can_be_the_symptom(target: str) -> None:
    bad = {"half": True, "large": True, "other": False}
    good = {"half": False, "large": False, "other": False}
    found = shrink(bad, good, child_symptom(f"{target}:crashes", crash="FloatingPointError"), chance=False)
    assert [d.key for d in found.needed] == ["half", "large"]
    shows = child_symptom(f"{target}:crashes", crash="FloatingPointError")
    assert shows({"half": False, "large": False, "other": True}, 0) is None, "not this crash"


class Near:
    """A cluster of this one machine: what it is asked to call crosses no wire, but is called by name and plain data."""

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return pickle.loads(pickle.dumps(function))(*pickle.loads(pickle.dumps(arguments)))


def test_a_run_on_a_cluster_answers_as_one_here(target: str) -> None:
    shows = ClusterSymptom(Near(), f"{target}:learns_nothing", Limits(seconds=60))
    assert shows({"lr": 10, "clip": None}, 0) is True
    assert shows({"lr": 0.1, "clip": None}, 0) is False
    assert shows.ended == ""
    assert shows({"lr": 10, "clip": None, "batch": 0}, 0) is None
    assert "ZeroDivisionError" in shows.ended
    crash = ClusterSymptom(Near(), f"{target}:crashes", Limits(seconds=60), crash="FloatingPointError")
    assert crash({"half": True, "large": True, "other": False}, 0) is True
    with pytest.raises(FirstbreakError, match="no_such_name"):
        ClusterSymptom(Near(), f"{target}:no_such_name")({}, 0)
