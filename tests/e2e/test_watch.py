"""Real trainings of Stable-Baselines3, watched from outside by a process that knows nothing of them."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.full

TRAINER = """
import sys, torch
from stable_baselines3 import PPO
from stable_baselines3.common.logger import configure
torch.set_num_threads(1)
folder, rate, steps = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
model = PPO("MlpPolicy", "CartPole-v1", seed=0, device="cpu", n_steps=256, n_epochs=4, learning_rate=rate)
model.set_logger(configure(folder, ["csv", "tensorboard"]))
model.learn(steps)
"""


def watched(folder: Path, rate: float, steps: int, *arguments: str) -> tuple[int, list[dict[str, Any]], float]:
    """Train in one process and watch in another; return status, events and when the training ended."""
    trainer = subprocess.Popen([sys.executable, "-c", TRAINER, str(folder), str(rate), str(steps)])
    command = [sys.executable, "-m", "firstbreak", "watch", str(folder), "--interval", "0.2", "--format", "json"]
    watcher = subprocess.Popen(
        [*command, "--until-end", "--pid", str(trainer.pid), *arguments], stdout=subprocess.PIPE, text=True
    )
    try:
        trainer.wait(timeout=240)
        ended = time.time()
        out, _ = watcher.communicate(timeout=120)
    finally:
        for process in (trainer, watcher):
            process.kill()
            process.wait()
    return watcher.returncode, [json.loads(line) for line in out.splitlines()], ended


def test_a_learning_rate_of_a_tenth_is_told_while_it_trains(tmp_path: Path) -> None:
    status, events, ended = watched(tmp_path / "run", 0.1, 12_000)
    assert status == 1
    alerts = [e for e in events if e["watch"]["alert"]]
    assert alerts[0]["findings"][0]["name"] == "kl-overshoot"
    assert alerts[0]["watch"]["time"] < ended
    assert events[-1]["verdict"] == "broken"
    assert events[-1]["watch"]["state"] == "ended"
    assert [e["watch"] for e in events if e["watch"]["event"] in ("restart", "lost", "problem")] == []


def test_its_healthy_twin_is_left_in_peace(tmp_path: Path) -> None:
    status, events, _ = watched(tmp_path / "run", 3e-4, 8_000, "--undecided-ok")
    assert status == 0
    assert [e for e in events if e["watch"]["alert"]] == []
    assert events[-1]["watch"]["event"] == "end"


def test_the_first_finding_ends_the_watch_at_once(tmp_path: Path) -> None:
    status, events, ended = watched(tmp_path / "run", 0.1, 12_000, "--exit-on-finding")
    assert status == 1
    assert events[-1]["watch"]["time"] < ended


def test_the_live_panel_at_a_real_terminal_ends_with_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text("".join(f'{{"step": {i}, "loss": {1 / (i + 1)}}}\n' for i in range(30)))
    child, terminal = pty.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background job has it ignored, and so its children
        environment = os.environ | {"TERM": "xterm", "COLUMNS": "80", "LINES": "24"}
        os.execve(sys.executable, [sys.executable, "-m", "firstbreak", "watch", str(tmp_path)], environment)
    shown, sent = b"", False
    deadline = time.time() + 60
    while time.time() < deadline:
        if select.select([terminal], [], [], 0.2)[0]:
            with contextlib.suppress(OSError):  # the other end is closed
                piece = os.read(terminal, 65536)
                shown += piece
                if piece:
                    continue
            break
        if not sent and b"pulse" in shown:
            os.write(terminal, b"\x03")
            sent = True
    else:
        os.kill(child, signal.SIGKILL)  # it would wait for somebody to read what it shows
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 130
    assert b"watching" in shown
    assert b"firstbreak diagnose" in shown
    assert b"Traceback" not in shown
