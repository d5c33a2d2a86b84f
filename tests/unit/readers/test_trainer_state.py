from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firstbreak.errors import InputError
from firstbreak.readers.protocol import Options
from firstbreak.readers.trainer_state import read, sniff

LOGS = Path(__file__).parents[2] / "data" / "logs"


def write(tmp_path: Path, state: Any) -> Path:
    path = tmp_path / "trainer_state.json"
    path.write_text(json.dumps(state))
    return path


def test_a_real_run() -> None:
    path = LOGS / "trl_grpo_hackable" / "trainer_state.json"
    assert sniff(path) == 1.0
    found = read(path, Options())
    assert (found.framework, found.clock, found.ended) == ("trl", "updates", "finished")
    assert found.config["max_steps"] == 100
    assert found.curves["reward"].step.tolist() == list(range(1, 101))
    assert "train_runtime" not in found.curves
    assert "step" not in found.curves


def test_evaluation_rows_and_nan(tmp_path: Path) -> None:
    rows = [{"step": 1, "loss": 1.0}, {"step": 1, "eval_loss": 2.0}, {"step": 2, "loss": float("nan")}]
    found = read(write(tmp_path, {"log_history": rows}), Options())
    assert found.curves["eval_loss"].step.tolist() == [1]
    assert np.isnan(found.curves["loss"].value[1])
    assert found.ended == ""
    assert found.framework == ""


def test_a_cut_file_gives_the_rows_before_the_cut(tmp_path: Path) -> None:
    whole = (LOGS / "trl_grpo_hackable" / "trainer_state.json").read_text()
    path = tmp_path / "trainer_state.json"
    path.write_text(whole[: len(whole) // 2])
    found = read(path, Options())
    assert 40 < len(found.curves["reward"]) < 60
    assert "cut off" in str(found.problems[0])


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"log_history": []}', '{"log_history": 3}', "{" * 100_000, '{"log_history": [', "\xff"]
)
def test_nothing_usable(tmp_path: Path, text: str) -> None:
    path = tmp_path / "trainer_state.json"
    path.write_text(text)
    with pytest.raises(InputError):
        read(path, Options())
