"""The command: one run scored from a shell, the gate's status, and a mistake told without a traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from .recorded import RUNS

ROOT = Path(__file__).parents[3]


def score(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "benchmarks/faults/score.py", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_runs_are_scored_and_written(tmp_path: Path):
    ended = score(
        "--folder", str(RUNS), "--only", "policy-frozen", "--half", "all", "--details",
        "--peers", str(tmp_path / "none"), "--json", str(tmp_path / "out.json"), "--page", str(tmp_path / "page.md"),
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert "detection recall" in ended.stdout
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["runs"]["fault_runs"] == 1
    assert document["scores"]["recall"]["hits"] == 1
    assert "# Results of the fault benchmark" in (tmp_path / "page.md").read_text()


def test_a_folder_without_runs_is_told_in_words(tmp_path: Path):
    ended = score("--folder", str(tmp_path))
    assert ended.returncode == 1
    assert "manifest.json: no such file" in ended.stderr
    assert "Traceback" not in ended.stderr
