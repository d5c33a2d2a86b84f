"""The example scripts of the control frameworks, each in a process of its own, with what they print."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}
PRINTS = {
    "monitor_sb3": "kl-overshoot",
    "monitor_torchrl": "6 rows judged",
    "monitor_hand_loop": "80 updates",
    "monitor_cleanrl": "rewards-resized-on-the-way",
    "monitor_summary_writer": "kl-overshoot",
    "monitor_reference_ppo": "6 rows judged",
    "monitor_reference_dqn": "rows judged",
    "monitor_reference_sac": "rows judged",
    "monitor_reference_mmrkhs": "4 rows judged",
    "monitor_rsl_rl": "20 iterations judged",
}


@pytest.mark.full
@pytest.mark.parametrize("name", PRINTS)
def test_example_runs_says_something_and_leaves_a_record(name, tmp_path):
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), str(tmp_path / "run")]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, cwd=tmp_path, check=False, env=ENVIRONMENT
    )
    assert done.returncode == 0, done.stderr
    assert PRINTS[name] in done.stdout
    assert any((tmp_path / "run" / "firstbreak").iterdir())


@pytest.mark.full
@pytest.mark.parametrize("name", PRINTS)
def test_example_is_short(name):
    assert len((EXAMPLES / f"{name}.py").read_text("utf-8").splitlines()) <= 40
