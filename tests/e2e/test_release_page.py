"""A release for real: five short trainings recorded, evaluated, released, verified; and one of them replayed."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from firstbreak.evaluation.protocol.protocol import example

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "release_run.py"
SEEDS = 5
SETTINGS = """
[preflight]
environment = "CartPole-v1"
expert = "controller.py:controller"
"""
CONTROLLER = """
def controller(observation):
    return int(observation[2] + 0.5 * observation[3] > 0)
"""


def firstbreak(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", "-m", "firstbreak", *words]
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=variables)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with five recorded runs, a preflight and recorded episodes."""
    folder = tmp_path_factory.mktemp("work")
    for name, text in (
        ("firstbreak.toml", SETTINGS),
        ("controller.py", CONTROLLER),
        (".gitignore", "runs/\nrelease*/\n"),
    ):
        (folder / name).write_text(text)
    (folder / "train.py").write_text(EXAMPLE.read_text("utf-8"))
    (folder / "runs").mkdir()
    (folder / "runs" / "protocol.toml").write_text(example(("evaluation", "control")).replace("FILL IN", "mine"))
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=n", "-c", "user.email=e@x", "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)
    for seed in range(SEEDS):
        command = [sys.executable, "train.py", "--seed", str(seed), "--output-dir", f"runs/{seed}",
                   "--steps", "3072", "--episodes", "2"]  # fmt: skip
        done = firstbreak(folder, "record", "--run", f"runs/{seed}", "--", *command)
        assert done.returncode == 0, done.stderr[-2000:]
    firstbreak(folder, "preflight", "--format", "json", "--output", "runs/preflight.json")
    return folder


def test_the_records_hold_what_was_run(place: Path) -> None:
    found = json.loads((place / "runs" / "0" / "firstbreak-context.json").read_text())
    assert found["ending"]["status"] == "finished"
    assert found["code"]["commit"]
    assert found["config"]["env_id"] == "CartPole-v1"
    assert {"stable-baselines3", "torch", "gymnasium"} <= set(found["packages"])
    assert found["seeds"]["given"] == 0
    assert any(one["path"].endswith("rl_model_2048_steps.zip") for one in found["checkpoints"])


def test_the_release_names_what_is_missing_and_nothing_else(place: Path) -> None:
    done = firstbreak(place, "release", "runs", "--out", "release", "--format", "json")
    assert "Traceback" not in done.stderr
    found = json.loads(done.stdout)
    ruled = {entry["rule"]: entry["ruled"] for entry in found["gate"]}
    good = ("context-recorded", "runs-finished", "one-protocol", "seeds-distinct", "one-setting", "enough-seeds",
            "selection-corrected", "checkpoints-kept")  # fmt: skip
    assert {name: ruled[name] for name in good} == dict.fromkeys(good, "good")
    assert ruled["samples-audited"] == "missing"
    assert found["outcome"] == ("no-go" if "bad" in ruled.values() else "undecided")
    before = {row["id"]: row["status"] for row in found["checklists"]["before"]}
    assert before["environment-unit-test"] == before["weak-expert-baseline"] == "done"
    (group,) = found["results"]["groups"]
    assert len(group["scores"]) == SEEDS
    assert group["iqm"]["lo"] < group["iqm"]["value"] < group["iqm"]["hi"]
    assert done.returncode == (1 if found["outcome"] == "no-go" else 3)


def test_the_folder_verifies_until_it_is_touched(place: Path) -> None:
    firstbreak(place, "release", "runs", "--out", "release-2")
    seal = json.loads((place / "release-2" / "manifest.json").read_text())["seal"]
    assert firstbreak(place, "release", "--verify", "release-2", "--seal", seal).returncode == 0
    with (place / "release-2" / "results.json").open("a") as file:
        file.write(" ")
    assert firstbreak(place, "release", "--verify", "release-2", "--seal", seal).returncode == 1


def test_a_replay_gives_the_same_curves(place: Path) -> None:
    assert firstbreak(place, "replay", "runs/0", "--check").returncode == 0
    again = "--output-dir runs/again"
    done = firstbreak(place, "replay", "runs/0", "--run", "runs/again", "--add", again)
    assert done.returncode == 0, done.stderr[-2000:]
    first, second = (
        list(csv.DictReader((place / "runs" / name / "progress.csv").read_text().splitlines()))
        for name in ("0", "again")
    )
    # The order of the columns is that of a set, and differs from process to process; what is seeded is the same.
    assert [row["train/loss"] for row in first] == [row["train/loss"] for row in second]
    assert len(first) >= 3


def test_the_tutorial_ends_with_go(tmp_path: Path) -> None:
    """Every command of docs/tutorials/release.md, as it stands there."""
    page = (ROOT / "docs" / "tutorials" / "release.md").read_text("utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 5
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    variables = {**os.environ, "PATH": path, "EXAMPLES": str(ROOT / "examples"), "OMP_NUM_THREADS": "1"}
    for block in blocks:
        done = subprocess.run(
            ["bash", "-e", "-c", block], cwd=tmp_path, capture_output=True, text=True, check=False, env=variables
        )
        assert done.returncode == 0, f"{block}\n{done.stdout[-3000:]}\n{done.stderr[-1000:]}"
    assert done.stdout.startswith("GO")

    # The same release with a checkpoint cut off in the middle is none.
    best = tmp_path / "runs" / "3" / "best_model.zip"
    best.write_bytes(best.read_bytes()[: best.stat().st_size // 2])
    words = ("release", *sorted(str(p) for p in (tmp_path / "runs").iterdir()), "--samples", "runs/0/episodes.npz")
    done = firstbreak(tmp_path, *words, "--ledger", "firstbreak-looks.db")
    assert done.returncode == 1
    assert "1 checkpoint damaged: best of 3" in " ".join(done.stdout.split())
