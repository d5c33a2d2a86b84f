"""The example script of RLlib, in a process of its own, with what it prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "monitor_rllib.py"


def test_the_example_ends_its_broken_run_early_and_says_why(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLE)],
        capture_output=True, text=True, timeout=300, cwd=tmp_path, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = re.findall(r"^iteration \d+: return .*$", done.stdout, re.MULTILINE)
    assert 1 <= len(lines) < 10, done.stdout
    assert "'action': 'stop_training'" in lines[-1]
    assert "'findings': ['" in lines[-1]
    assert not any("action" in line for line in lines[:-1])


def test_the_example_is_short() -> None:
    assert len(EXAMPLE.read_text("utf-8").splitlines()) <= 40
