"""A real training with a monitor beside it, killed from outside at any moment and begun again on the same folder."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from firstbreak import Monitor, load

GUARDED = """
import json, os, sys
import gymnasium, torch
from firstbreak.monitor import Monitor
from firstbreak.monitor.adapters.reference import log_to
from firstbreak.trainers.ppo import PPO, PPOConfig

torch.set_num_threads(1)
folder, begin, end = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
config = PPOConfig(num_steps=16, num_envs=2, update_epochs=4, hidden_sizes=(8,), learning_rate=0.3, anneal_lr=False)
trainer = PPO(lambda: gymnasium.make("CartPole-v1"), seed=begin, config=config)
trainer.env_steps = begin

def say(what):
    os.write(1, (json.dumps(what) + "\\n").encode())

with Monitor(folder) as monitor:
    log = log_to(monitor, trainer)

    def acknowledged(metrics, step):
        verdict = log(metrics, step)
        say([step, dict(metrics)])
        return verdict

    trainer.learn(end, acknowledged)
    say([monitor.faults, sorted(finding.name for finding in monitor.diagnosis().findings)])
"""
STEPS, ROW = 1600, 32
LIVES = (5, 1, 17)
"""Rows after which each life is killed: the signal arrives somewhere in what follows, in an update or in a look."""


def lived(folder: Path, begin: int, rows: int | None) -> list[Any]:
    """What one life said; it is killed once it has said `rows` rows, or ends by itself."""
    command = [sys.executable, "-c", GUARDED, str(folder), str(begin), str(STEPS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        said: list[str] = []
        for line in child.stdout:
            said.append(line)
            if sum(text.startswith("[") for text in said) == rows:
                child.send_signal(signal.SIGKILL)
                break
        said += child.stdout.readlines()  # what was on its way when the signal came was acknowledged, too
    assert child.returncode == (0 if rows is None else -signal.SIGKILL)
    return [json.loads(text) for text in said if text.startswith("[") and text.endswith("]\n")]


def on_disk(folder: Path) -> dict[int, dict[str, float]]:
    """Step -> metrics of the rows in the record, in the order in which they were written."""
    lines = [line for part in sorted((folder / "firstbreak").iterdir()) for line in part.read_text().splitlines()]
    rows = [json.loads(line) for line in lines if line.endswith("}") and '"metrics"' in line]
    return {int(row["step"]): row["metrics"] for row in rows if row.get("kind") == "metrics"}


def test_nothing_that_was_acknowledged_is_lost_and_the_diagnosis_is_that_of_one_run(tmp_path: Path) -> None:
    acknowledged: dict[int, dict[str, float]] = {}
    for rows in LIVES:
        acknowledged |= dict(lived(tmp_path, max(on_disk(tmp_path), default=0) if acknowledged else 0, rows))
    *rest, (faults, names) = lived(tmp_path, max(on_disk(tmp_path)), None)
    acknowledged |= dict(rest)
    kept = on_disk(tmp_path)
    assert faults == []
    assert list(kept) == list(range(ROW, STEPS + 1, ROW)), "each row once, however many processes wrote them"
    for step, metrics in acknowledged.items():
        assert {name: kept[step][name] for name in metrics} == metrics
    assert load(tmp_path).get("policy/kl_old") is not None
    whole = Monitor(None, algorithm="PPO", clock="env_steps", config=load(tmp_path).config)
    for step, metrics in kept.items():
        whole.log(metrics, step=step)
    assert "kl-overshoot" in names, "the rate is far too high: there is something to lose"
    assert names == sorted(finding.name for finding in whole.diagnosis().findings)
