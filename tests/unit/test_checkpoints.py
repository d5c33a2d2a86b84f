"""Checkpoints beside a log: whose names are known, and which is the last from before the break."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from firstbreak import synth
from firstbreak.checkpoints import checkpoints, last_healthy
from firstbreak.runlog import ClockMap, RunLog


def run_in(folder: Path, clock: str = "updates", tied: dict[str, float] | None = None) -> RunLog:
    """A run of 100 rows whose log lies in `folder`; `tied` gives the other clocks' rate per row."""
    log = synth.run({"policy/loss": synth.flat(1.0)}, n=100, clock=clock)
    at = np.arange(1.0, 101.0)
    return replace(log, path=str(folder), clocks=ClockMap(clock, at, {k: at * v for k, v in (tied or {}).items()}))


def make(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        if path.suffix:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        else:
            path.mkdir(parents=True)


@pytest.mark.parametrize(
    ("name", "number", "counts"),
    [
        ("rl_model_2048_steps.zip", 2048, "env_steps"),
        ("ppo-cartpole_500_steps.zip", 500, "env_steps"),
        ("checkpoint-500", 500, "updates"),
        ("checkpoint_000010", 10, "updates"),
        ("global_step_120", 120, "updates"),
        ("model_100.pt", 100, ""),
    ],
)
def test_names_of_frameworks(tmp_path: Path, name: str, number: int, counts: str) -> None:
    make(tmp_path, f"saved/{name}")
    assert checkpoints(tmp_path) == [(number, counts, tmp_path / "saved" / name)]


@pytest.mark.parametrize(
    "name", ["best_model.zip", "checkpoint-last", "model.pt", "events.out.tfevents.1", "step_x.pt"]
)
def test_other_names_are_none(tmp_path: Path, name: str) -> None:
    make(tmp_path, name)
    assert checkpoints(tmp_path) == []


def test_only_three_levels_are_looked_at_and_no_links(tmp_path: Path) -> None:
    make(tmp_path, "a/b/checkpoint-1", "a/b/c/checkpoint-2", ".cache/checkpoint-3")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert [number for number, _, _ in checkpoints(tmp_path)] == [1]


def test_the_newest_before_the_break_is_chosen(tmp_path: Path) -> None:
    make(tmp_path, "checkpoint-9", "checkpoint-40", "checkpoint-50", "checkpoint-60")
    log = run_in(tmp_path)
    assert last_healthy(log, 50.0) == str(tmp_path / "checkpoint-40")
    assert last_healthy(log, 9.0) is None
    assert last_healthy(log, None) == str(tmp_path / "checkpoint-60")


def test_the_log_may_be_a_file_beside_them(tmp_path: Path) -> None:
    make(tmp_path, "checkpoint-5", "progress.csv")
    assert last_healthy(run_in(tmp_path / "progress.csv"), 50.0) == str(tmp_path / "checkpoint-5")
    assert last_healthy(run_in(tmp_path / "gone" / "progress.csv"), 50.0) is None


def test_numbers_on_another_clock_are_brought_onto_the_runs(tmp_path: Path) -> None:
    make(tmp_path, "rl_model_4000_steps.zip", "rl_model_6000_steps.zip")
    log = run_in(tmp_path, "updates", {"env_steps": 100.0})
    assert last_healthy(log, 50.0) == str(tmp_path / "rl_model_4000_steps.zip")


def test_numbers_that_cannot_be_brought_onto_the_runs_clock_are_not_compared(tmp_path: Path) -> None:
    make(tmp_path, "checkpoint_000050")
    assert last_healthy(run_in(tmp_path, "env_steps"), 60.0) is None


def test_beside_a_log_file_the_folders_of_other_runs_are_left_alone(tmp_path: Path) -> None:
    """In a folder of logs `other/` belongs to the run there; `checkpoints/` is kept for this one."""
    for place in ("other/model_30.pt", "checkpoints/model_20.pt", "other/checkpoints/model_40.pt"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).touch()
    (tmp_path / "run.jsonl").touch()
    assert last_healthy(run_in(tmp_path / "run.jsonl"), 50.0) == str(tmp_path / "checkpoints" / "model_20.pt")
    assert last_healthy(run_in(tmp_path), 50.0) == str(tmp_path / "other" / "checkpoints" / "model_40.pt")
