"""Ctrl-C in the middle of a comparison: every process gets it, and none but the first one says anything."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import os, signal, sys, time
from pathlib import Path
from firstbreak.evaluation.contamination.api import contamination

signal.signal(signal.SIGINT, signal.default_int_handler)

def stop(_):
    time.sleep(1.0)  # until the other process is at work, too
    os.killpg(0, signal.SIGINT)

try:
    contamination([Path(sys.argv[1])], [Path(sys.argv[2])], processes=2, progress=stop)
except KeyboardInterrupt:
    raise SystemExit(130)
"""


def test_nothing_is_printed_by_the_other_processes(tmp_path: Path) -> None:
    train, evaluation = tmp_path / "train.jsonl", tmp_path / "eval.jsonl"
    rows = (json.dumps({"prompt": f"prompt {i} " + " ".join(str(i * j) for j in range(40))}) for i in range(40_000))
    train.write_text("\n".join(rows))
    evaluation.write_text(json.dumps({"prompt": "what is seven times eight minus two"}) + "\n")
    command = [sys.executable, "-c", SCRIPT, str(train), str(evaluation)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, start_new_session=True)
    assert (done.returncode, done.stderr) == (130, "")
