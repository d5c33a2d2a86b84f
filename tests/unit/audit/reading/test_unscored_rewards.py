"""Rewards that are there and say nothing: the report must not tell the user to name a column that he has."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from firstbreak.audit.api import audit, read_table


def written(folder: Path, rewards: list[object]) -> Path:
    path = folder / "samples.jsonl"
    rows = [{"prompt": f"p{i}", "response": "an answer", "reward": r} for i, r in enumerate(rewards)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("reward", [float("nan"), float("inf"), "high", [0.5, "x"], 1e300])
def test_a_column_without_a_number_is_a_finding(tmp_path: Path, reward: object) -> None:
    seen = audit(written(tmp_path, [reward] * 40))
    assert [f.name for f in seen.findings] == ["sample-rewards-missing"]
    assert any("none of them a finite number" in note for note in seen.notes)


def test_no_column_is_no_finding(tmp_path: Path) -> None:
    seen = audit(written(tmp_path, [None] * 40))
    assert not [f for f in seen.findings if f.name == "sample-rewards-missing"]
    assert any(note.startswith("no rewards") for note in seen.notes)


def test_what_a_32_bit_float_cannot_hold_is_counted_and_not_known(tmp_path: Path) -> None:
    table, report = read_table(written(tmp_path, [1e300, 1.0, -1e39, 3e38]))
    assert np.isfinite(table.columns["reward"]).tolist() == [False, True, False, True]
    assert table.unscored == 2
    assert report.mended["an infinite number was taken as not known"] == 2


def test_what_was_put_right_is_said(tmp_path: Path) -> None:
    path = written(tmp_path, [1.0] * 3)
    path.write_bytes(path.read_bytes().replace(b"answer", b"ans\xffwer", 1))
    assert any("not valid UTF-8 were replaced (1)" in note for note in audit(path).notes)
