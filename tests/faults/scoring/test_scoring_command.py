"""The command: one run scored from a shell, the gate's status, and a mistake told without a traceback."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.faults import recording

from .recorded import RUNS

ROOT = Path(__file__).parents[3]
BASELINE = RUNS.parent / "baseline.json"


def score(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "benchmarks/faults/score.py", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_runs_are_scored_and_written(tmp_path: Path):
    page = tmp_path / "figures.md"
    page.write_text("before\n<!-- faults:begin -->\nold\n<!-- faults:end -->\nafter\n", "utf-8")
    ended = score(
        "--folder", str(RUNS), "--only", "policy-frozen", "--half", "all", "--details",
        "--peers", str(tmp_path / "none"), "--json", str(tmp_path / "out.json"), "--page", str(tmp_path / "page.md"),
        "--headline", str(page),
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert "detection recall" in ended.stdout
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["runs"]["fault_runs"] == 1
    assert document["scores"]["recall"]["hits"] == 1
    assert "# Results of the fault benchmark" in (tmp_path / "page.md").read_text()
    text = page.read_text("utf-8")
    assert text.startswith("before\n<!-- faults:begin -->\n1 runs with 1 faults")
    assert text.endswith("<!-- faults:end -->\nafter\n")
    assert "old" not in text
    assert "| link, first answer | 100.0 %" in text
    assert "| reward only | 1 |" in text


def test_a_healthy_run_that_lost_what_it_learned_counts_neither_way(tmp_path: Path):
    folder = tmp_path / "runs"
    shutil.copytree(RUNS, folder)
    (folder / "collapsed.json").write_text(json.dumps([{"id": "sb3_ppo/CartPole-v1/clean/0"}]), "utf-8")
    (folder / "gate.md").write_text("2 of 3 faults are load-bearing\n", "utf-8")
    ended = score("--folder", str(folder), "--only", "clean", "--half", "all", "--page", str(tmp_path / "page.md"))
    assert ended.returncode == 0, ended.stderr
    assert "1 runs without a fault lost what they had learned" in ended.stdout
    page = (tmp_path / "page.md").read_text("utf-8")
    assert "| `sb3_ppo/CartPole-v1/clean/0` |" in page.split("Meant to be healthy")[1]
    assert page.endswith("## What the gate turned down\n\n2 of 3 faults are load-bearing\n")


def test_a_real_fall_fails_the_gate(tmp_path: Path):
    """Every broken run gets the log of a healthy one: nothing can be detected any more, and the command says so."""
    folder = tmp_path / "runs"
    shutil.copytree(RUNS, folder)
    words = ("--folder", str(folder), "--half", "all", "--peers", str(tmp_path / "none"), "--gate", "--baseline")
    assert score(*words, str(BASELINE)).returncode == 0
    healthy = recording.read_run(next(folder.glob("*__clean__0.json.xz")))
    broken = [run for path in recording.runs_in(folder) if (run := recording.read_run(path))["fault"]]
    assert broken
    for run in broken:
        recording.write_run(folder, {**run, **{part: healthy[part] for part in ("keys", "died")}})
    ended = score(*words, str(BASELINE))
    assert ended.returncode == 1, ended.stdout
    fallen = [line for line in ended.stdout.splitlines() if line.startswith("fallen: ")]
    assert any(line.startswith("fallen: recall: was 0.") and line.endswith("is 0.000") for line in fallen)
    assert not any("false_alarms" in line for line in fallen)


def test_a_page_without_marks_is_left_alone(tmp_path: Path):
    page = tmp_path / "README.md"
    page.write_text("mine\n", "utf-8")
    ended = score("--folder", str(RUNS), "--only", "policy-frozen", "--half", "all", "--headline", str(page))
    assert ended.returncode == 1
    assert "faults:begin" in ended.stderr
    assert page.read_text("utf-8") == "mine\n"


def test_a_folder_without_runs_is_told_in_words(tmp_path: Path):
    ended = score("--folder", str(tmp_path))
    assert ended.returncode == 1
    assert "manifest.json: no such file" in ended.stderr
    assert "Traceback" not in ended.stderr
