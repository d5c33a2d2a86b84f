"""An alert of `firstbreak watch` that cannot be delivered is said, and changes neither the answer nor the status."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstbreak.cli import main

LOGS = Path(__file__).parents[3] / "data" / "logs"


def test_a_place_that_cannot_be_told_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nowhere = tmp_path / "missing" / "alerts.jsonl"
    nowhere.parent.write_text("a file where the folder should be")
    look = ["watch", str(LOGS / "sb3_ppo_lr01"), "--once", "--select", "kl-overshoot"]
    assert main(look) == main([*look, "--alert", f"file:{nowhere}"]) == 1
    told = capsys.readouterr()
    assert told.out.count("BROKEN at policy_update") == 2
    (line,) = told.err.splitlines()
    assert line.startswith("firstbreak: File: not delivered")
