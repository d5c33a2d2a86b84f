from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firstbreak.errors import InputError
from firstbreak.readers.jsonl import read, sniff
from firstbreak.readers.protocol import Options


def write(tmp_path: Path, rows: list[Any], tail: str = "", name: str = "metrics.jsonl") -> Path:
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + tail)
    return path


def test_nested_rows_are_joined_by_slashes(tmp_path: Path) -> None:
    path = write(tmp_path, [{"step": 1, "train": {"loss": 2, "lr": {"a": 3}}, "list": [1, 2]}, {"step": 2, "x": 1}])
    assert sniff(path) == pytest.approx(0.6)
    found = read(path, Options())
    assert {key: curve.value.tolist() for key, curve in found.curves.items()} == {
        "train/loss": [2],
        "train/lr/a": [3],
        "x": [1],
    }


def test_a_row_of_thousands_of_metrics_is_a_row(tmp_path: Path) -> None:
    wide = {f"layer{n}/weights/norm": 0.123456789 for n in range(5000)}
    path = write(tmp_path, [{"step": step, "loss": 1.0, **wide} for step in range(3)])
    assert sniff(path) == pytest.approx(0.6)
    assert len(read(path, Options()).curves) == 5001


def test_verl_file_rows(tmp_path: Path) -> None:
    path = write(tmp_path, [{"step": n, "data": {"actor/kl": n / 10, "critic/score": 1}} for n in (1, 2)])
    found = read(path, Options())
    assert sorted(found.curves) == ["actor/kl", "critic/score"]
    assert found.curves["actor/kl"].step.tolist() == [1, 2]


def test_several_rows_for_one_step(tmp_path: Path) -> None:
    path = write(tmp_path, [{"step": 1, "a": 1}, {"step": 1, "b": 2}, {"step": 2, "a": 3}])
    found = read(path, Options())
    assert found.curves["a"].step.tolist() == [1, 2]
    assert found.curves["b"].step.tolist() == [1]


def test_nan_is_kept_and_null_is_missing(tmp_path: Path) -> None:
    path = write(tmp_path, [{"step": 1, "a": float("nan"), "b": None, "c": "inf"}, {"step": 2, "a": 1, "b": 2, "c": 1}])
    found = read(path, Options())
    assert np.isnan(found.curves["a"].value[0])
    assert found.curves["b"].step.tolist() == [2]
    assert np.isinf(found.curves["c"].value[0])


def test_dates_are_wall_time(tmp_path: Path) -> None:
    path = write(tmp_path, [{"step": 1, "time": "2024-01-02T03:04:05+00:00", "a": 1}])
    wall = read(path, Options()).curves["a"].wall
    assert wall is not None
    assert wall.tolist() == [1704164645.0]


def test_milliseconds(tmp_path: Path) -> None:
    wall = read(write(tmp_path, [{"step": 1, "timestamp": 1700000000000, "a": 1}]), Options()).curves["a"].wall
    assert wall is not None
    assert wall.tolist() == [1700000000.0]


def test_a_cut_tail_keeps_what_came_before(tmp_path: Path) -> None:
    found = read(write(tmp_path, [{"step": 1, "a": 1}], '{"step": 2, "a": '), Options())
    assert found.curves["a"].value.tolist() == [1]
    assert "cut off" in str(found.problems[0])


def test_a_first_line_cut_off_by_rotation_is_passed_over(tmp_path: Path) -> None:
    rows = [{"step": i, "a": i} for i in range(4)]
    cut = write(tmp_path, rows, name="cut.jsonl")
    cut.write_text('"a": 3}\n' + cut.read_text())
    assert sniff(cut) == sniff(write(tmp_path, rows))
    found = read(cut, Options())
    assert found.curves["a"].value.tolist() == [0, 1, 2, 3]
    assert "1 line" in str(found.problems[0])
    listed = tmp_path / "list.json"
    listed.write_text('[\n{"step": 1},\n{"step": 2},\n{"step": 3}\n]\n')
    assert sniff(listed) == 0.0


def test_lines_that_are_not_objects_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text('{"a": 1}\nhello\n[1]\n{"a": 2}\n')
    found = read(path, Options())
    assert found.curves["a"].value.tolist() == [1, 2]
    assert "2 lines" in str(found.problems[0])


def test_samples_and_configurations_are_not_metrics(tmp_path: Path) -> None:
    assert sniff(write(tmp_path, [{"step": 1, "prompt": "a", "reward": 1}])) < 0.1
    assert sniff(write(tmp_path, [{"lr": 1}], name="config.json")) < 0.1


def test_deep_nesting_ends(tmp_path: Path) -> None:
    path = tmp_path / "deep.jsonl"
    path.write_text('{"a": 1, "b": ' + '{"c": ' * 500 + "1" + "}" * 501 + "\n" + "[" * 100_000 + "\n")
    assert read(path, Options()).curves["a"].value.tolist() == [1]


@pytest.mark.parametrize("text", ["", "not json\n", "[]\n", '{"a": "text"}\n'])
def test_nothing_usable(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text(text)
    with pytest.raises(InputError):
        read(path, Options())
