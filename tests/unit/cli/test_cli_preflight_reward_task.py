"""`firstbreak preflight reward` and `task` on files: answers, exit status, wrong arguments; being told to stop."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from .conftest import Answer

Call = Callable[..., Answer]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    random = np.random.default_rng(0)
    for name, mean in (("random", 20), ("expert", 200), ("trained", 5)):
        (tmp_path / f"{name}.json").write_text(json.dumps(random.normal(mean, 9, 100).tolist()), "utf-8")
    rows = [f"{a},{50 * b},{a + 50 * b}" for a, b in zip(random.normal(size=300), random.random(300), strict=True)]
    (tmp_path / "scores.csv").write_text("\n".join(["progress,heading,paid", *rows]), "utf-8")
    (tmp_path / "noise.csv").write_bytes(bytes(range(256)) * 8)
    (tmp_path / "steps.csv").write_text("frage,step\na,1\n", "utf-8")
    return tmp_path


def test_a_table_of_rewards(call: Call, files: Path) -> None:
    seen = call("preflight", "reward", files / "scores.csv", "--column", "reward=paid", "--fail-on", "warning")
    assert seen.status == 1
    assert "heading dominates" in seen.out
    assert "share of variance %" in seen.out


def test_returns_of_three_policies(call: Call, files: Path) -> None:
    given = [x for who in ("random", "expert", "trained") for x in (f"--{who}", files / f"{who}.json")]
    seen = call("preflight", "task", *given)
    assert seen.status == 1
    assert "trained-worse-than-random" in seen.out
    assert "of the gap closed" in seen.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["reward", "scores.csv", "--column", "paid"], "ROLE=NAME"),
        (
            ["reward", "scores.csv", "--column", "reward=paid", "--components", "zzz"],
            "There are: heading, paid",
        ),
        (["reward", "scores.csv", "--gamma", "2"], "--gamma is 2"),
        (["reward", "CartPole-v1", "--steps", "0"], "--steps is 0"),
        (["reward", "missing.csv"], "Is the path right?"),
        (["reward", "noise.csv"], "noise.csv: not a text file"),
        (["reward", "steps.csv"], "steps.csv: No column holds the reward"),
        (["reward", "envs.py"], "envs.py:make_env"),
        (["reward", "CartPole-v1", "--time-limit", "-1"], "above 0"),
        (["task"], "Nothing to look at"),
        (["task", "--expert", "policies:good"], "no TARGET"),
        (["task", "--random", "random.json", "--goal", "near"], "--goal needs an environment"),
        (["task", "CartPole-v1", "--random", "random.json"], "played at random"),
        (["task", "CartPole-v1", "--expert", "expert.json"], "is a file"),
        (["task", "CartPole-v1", "--episodes", "0"], "--episodes is 0"),
    ],
)
def test_wrong_arguments_are_told(
    call: Call, files: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(files)
    seen = call("preflight", *arguments)
    assert seen.status == 2
    assert said in seen.err


def test_sigterm_stops_the_child_and_removes_what_is_temporary(tmp_path: Path) -> None:
    """`timeout 60 firstbreak preflight ...` must leave nothing behind."""
    (tmp_path / "slow.py").write_text(
        "import os, pathlib, time\n"
        "def make():\n"
        "    pathlib.Path('begun').write_text(str(os.getpid()))\n"
        "    time.sleep(100)\n"
    )
    folders = tmp_path / "folders"
    folders.mkdir()
    command = [sys.executable, "-m", "firstbreak", "preflight", "env", "slow.py:make", "--silence-limit", "90"]
    where = {**os.environ, "TMPDIR": str(folders), "PYTHONPATH": os.getcwd()}
    tool = subprocess.Popen(command, cwd=tmp_path, env=where, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    begun, deadline = tmp_path / "begun", time.monotonic() + 60.0
    while not (begun.exists() and begun.read_text()) and time.monotonic() < deadline:
        time.sleep(0.02)
    tool.terminate()
    assert tool.wait(timeout=60) == 143
    assert not list(folders.iterdir())
    assert not Path(f"/proc/{begun.read_text()}/stat").exists()
