"""`firstbreak shrink`: from two configuration files and a function to a minimal reproduction."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from firstbreak.cli import main

RUN = Path(__file__).parents[4] / "tests" / "data" / "logs" / "sb3_ppo_lr01"

MINE = """
def shows(config, seed):
    return config["lr"] > 1 and config.get("clip") is None and config["steps"] >= 100
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "bad.yaml").write_text("lr: 3.0\nsteps: 400\nbatch: 64\nenv: {id: X, width: 3}\n")
    (tmp_path / "good.toml").write_text('lr = 0.001\nclip = 0.2\nsteps = 400\nbatch = 32\n[env]\nid = "X"\n')
    return tmp_path


def test_two_files_and_a_function_give_the_settings_needed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--bad", str(here / "bad.yaml"), "--good", str(here / "good.toml"), "--sure", "--size", "steps"]
    status = main(["shrink", f"{here}/mine.py:shows", *options, "--output", str(here / "small.json")])
    out = capsys.readouterr().out
    assert status == 0
    assert "2 of 4 differences needed" in " ".join(out.split())
    assert "lr: 0.001 -> 3.0" in out
    assert "clip: 0.2 -> (not set)" in out
    small = json.loads((here / "small.json").read_text())
    assert 100 <= small["steps"] <= 125
    assert {k: small[k] for k in ("lr", "batch", "env")} == {"lr": 3, "batch": 32, "env": {"id": "X"}}


def test_a_budget_that_is_spent_is_no_minimal_reproduction(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--bad", str(here / "bad.yaml"), "--good", str(here / "good.toml"), "--sure", "--runs", "3"]
    status = main(["shrink", f"{here}/mine.py:shows", *options, "--format", "json"])
    made = json.loads(capsys.readouterr().out)
    assert status == 3
    assert made["minimal"] is False
    assert {d["key"] for d in made["needed"]} >= {"lr", "clip"}


@pytest.mark.parametrize("text", ["[1, 2]", "{", ""])
def test_what_is_no_configuration_is_refused(here: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "bad.json").write_text(text)
    options = ["--bad", str(here / "bad.json"), "--good", str(here / "good.toml")]
    assert main(["shrink", f"{here}/mine.py:shows", *options]) == 2
    assert "bad.json" in capsys.readouterr().err
    assert main(["shrink", f"{here}/mine.py:shows", "--bad", str(here / "none.json"), *options[2:]]) == 2


def test_a_file_of_another_kind_is_told_what_is_read(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = here / "bad.csv"
    table.write_text("lr,clip\n3,0.2\n")
    assert main(["shrink", f"{here}/mine.py:shows", "--bad", str(table), "--good", f"{here}/good.json"]) == 2
    said = capsys.readouterr().err
    assert "bad.csv cannot be read as JSON" in said
    assert ".json, .toml or .yaml" in said


@pytest.mark.parametrize("command", ["shrink", "settle"])
def test_a_cluster_is_asked_for_as_an_experiment_asks(
    here: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ray is no part of the environment of these tests: what it takes is named."""
    words = {
        "shrink": [f"{here}/mine.py:shows", "--bad", str(here / "bad.yaml"), "--good", str(here / "good.toml")],
        "settle": [str(RUN), "--go", "--trainer", "sb3:PPO", "--env", "CartPole-v1"],
    }
    assert main([command, *words[command], "--ray"]) == 2
    assert "firstbreak[ray]" in capsys.readouterr().err
