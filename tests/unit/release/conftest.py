"""Runs of a release, made small: folders as Stable-Baselines3 leaves them, and evidence in which nothing is missing."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firstbreak.api import diagnose_log
from firstbreak.config import Settings
from firstbreak.context import store
from firstbreak.context.contents import Code, Context, Ending
from firstbreak.diagnosis import Diagnosis, Verdict
from firstbreak.evaluation.protocol.protocol import example, read
from firstbreak.evaluation.statistics.intervals import Interval
from firstbreak.inspection import Inspection
from firstbreak.loading import load
from firstbreak.release.evidence import Change, Evidence, Group, Line, Looks, Results, Run, Selection, Stored

ROWS = 12
EVALUATIONS = 8


def make_run(
    folder: Path,
    seed: int,
    *,
    level: float = 100.0,
    episodes: int = 5,
    length: int = EVALUATIONS,
    config: dict[str, Any] | None = None,
    record: bool = True,
    status: str = "finished",
    checkpoints: bool = True,
) -> Path:
    """Write what a short training of PPO by Stable-Baselines3 leaves behind; evaluations end near `level`."""
    folder.mkdir(parents=True)
    random = np.random.default_rng(seed)
    rows = ["time/total_timesteps,rollout/ep_rew_mean,rollout/ep_len_mean,train/approx_kl,train/entropy_loss,"
            "train/clip_fraction,train/explained_variance,train/value_loss,train/learning_rate,time/fps"]  # fmt: skip
    for i in range(1, ROWS + 1):
        reward = 20 + (level - 20) * i / ROWS + random.normal(0, 1)
        rows.append(f"{i * 512},{reward:.3f},{reward:.1f},{0.01 + random.random() * 0.002:.5f},{-0.69 + 0.02 * i:.4f},"
                    f"0.1,{min(0.9, 0.1 * i):.2f},{50 / i:.2f},0.0003,{1000 + random.integers(20)}")  # fmt: skip
    (folder / "progress.csv").write_text("\n".join(rows) + "\n")
    steps = np.arange(1, length + 1) * 768
    means = 20 + (level - 20) * np.arange(1, length + 1) / EVALUATIONS
    results = means[:, None] + random.normal(0, 5, (length, episodes))
    np.savez(folder / "evaluations.npz", timesteps=steps, results=results, ep_lengths=np.full((length, episodes), 50))
    if checkpoints:
        for name in ("best_model.zip", f"rl_model_{ROWS * 512}_steps.zip"):
            save(folder / name, f"{name} {seed}")
    if record:
        settings = {
            "env_id": "CartPole-v1",
            "learning_rate": 3e-4,
            "seed": seed,
            "eval.deterministic": True,
            **(config or {}),
        }
        context = Context(
            "2026-01-01T00:00:00Z", ("python", "train.py"), "/work", settings, {"argument --seed": seed},
            Code("c" * 40), ending=Ending(status, 0 if status == "finished" else 1),
        )  # fmt: skip
        store.write(context, folder)
    return folder


def save(path: Path, text: str) -> None:
    """Write a checkpoint as Stable-Baselines3 does: a zip file with the weights in it."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("policy.pth"), text)


def make_scores(folder: Path, seed: int, rows: Sequence[tuple[str, str, float]], protocol: str = "p") -> None:
    """Write a table of scores beside a run."""
    lines = [f"{split},{checkpoint},{seed},{score},{protocol}" for split, checkpoint, score in rows]
    (folder / "scores.csv").write_text("\n".join(["split,checkpoint,seed,score,protocol", *lines]) + "\n")


def make_protocol(path: Path, **changes: str) -> str:
    """Write the protocol of an evaluation, `old=new` in its text replaced; return its hash."""
    text = example(("evaluation", "control")).replace("FILL IN", "mine")
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return read(path).hash


def make_preflight(path: Path, status: str = "pass") -> Path:
    """Write what `firstbreak preflight --format json` writes, as far as a release reads it."""
    from firstbreak.preflight.checklist.rows import all_rows

    rows = [{"id": row.id, "status": status, "why": "looked"} for row in all_rows()]
    path.write_text(json.dumps({"rows": rows}))
    return path


@pytest.fixture
def five(tmp_path: Path) -> list[Path]:
    """Five seeds with scores on fresh seeds and the private set, all under the protocol beside their folders."""
    folders = [make_run(tmp_path / "runs" / str(seed), seed) for seed in range(5)]
    protocol = make_protocol(tmp_path / "runs" / "protocol.toml")
    for seed, folder in enumerate(folders):
        rows = [
            ("fresh", "best", 95.0 + seed),
            ("private", "best", 90.0 + 2 * seed),
            ("private", "baseline", 20.0 + seed),
        ]
        make_scores(folder, seed, rows, protocol)
    return folders


@cache
def healthy() -> Diagnosis:
    """A diagnosis of some log, called healthy."""
    log = load({"reward": [float(i) for i in range(12)]})
    return replace(diagnose_log(log, Settings()), verdict=Verdict.HEALTHY, first_break=None, findings=())


def some_run(seed: int, **changes: Any) -> Run:
    """A run of which everything is known."""
    context = Context("now", ("python",), config={"lr": 1}, code=Code("c" * 40), ending=Ending("finished", 0))
    score = np.array([10.0, 50.0, 90.0 + seed])
    run = Run(
        f"run{seed}", f"/runs/{seed}", healthy(), "CartPole-v1", "PPO", str(seed), "p1", context=context,
        metric="reward/eval_return_mean", step=np.array([1.0, 2.0, 3.0]), score=score, reward=(20.0, 80.0 + seed),
        ended="finished",
    )  # fmt: skip
    return replace(run, **changes)


def span(value: float, lo: float, hi: float) -> Interval:
    """An interval of five runs."""
    return Interval(value, lo, hi, 0.95, "t", 5)


def change(direction: str) -> Change:
    """Something that moved up or down, or of which that cannot be told."""
    lo, hi = {"up": (1.0, 3.0), "down": (-3.0, -1.0), "unclear": (-1.0, 3.0)}[direction]
    return Change(10.0, 10.0 + (lo + hi) / 2, span((lo + hi) / 2, lo, hi), 5, "before")


def clear_samples(verdict: Verdict = Verdict.HEALTHY) -> Inspection:
    """An audit in which checks looked."""
    return Inspection("samples", "rollouts.jsonl", verdict, (), clear=("a", "b"))


@pytest.fixture
def complete() -> Evidence:
    """Evidence on which a release goes."""
    runs = tuple(some_run(seed) for seed in range(5))
    names = tuple(run.name for run in runs)
    group = Group("CartPole-v1", "PPO", "p1", names, (90.0, 91.0, 92.0, 93.0, 94.0), 3.0, "env_steps",
                  "reward/eval_return_mean", iqm=span(92, 90, 94))  # fmt: skip
    done = (Line("a", "Is it so?", "done", "yes"),)
    kept = [Stored(run.name, role, "/p", "f" * 64, 9) for run in runs for role in ("best", "last")]
    return Evidence(
        runs, (), Results((group,)), Selection(names, (95.0,) * 5, (92.0,) * 5, span(3, 1, 5), span(92, 90, 94), 3),
        private=change("up"), private_protocols=("p",), reward=change("up"), checkpoints=tuple(kept),
        samples=clear_samples(), looks=Looks(1, 3), before=done, during=done,
    )  # fmt: skip
