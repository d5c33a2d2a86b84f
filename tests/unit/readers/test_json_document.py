from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from firstbreak.errors import InputError
from firstbreak.readers.discover import discover
from firstbreak.readers.json_document import read, sniff
from firstbreak.readers.protocol import Options

ROWS = [{"step": 10 * i, "reward": float(i), "train": {"loss": 1.0 / (i + 1)}} for i in range(5)]
COLUMNS = {"step": [0, 10, 20, 30, 40], "reward": [0.0, 1.0, 2.0, 3.0, 4.0]}


def write(folder: Path, document: Any, name: str = "history.json", **dump: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps(document, **dump))
    return path


@pytest.mark.parametrize(
    "document",
    [
        ROWS,
        {"history": ROWS},
        {"config": {"gamma": 0.9}, "run": {"metrics": ROWS}},
        COLUMNS,
        {"train": COLUMNS},
        {str(row["step"]): {"reward": row["reward"]} for row in ROWS},
        {name: {str(i): value for i, value in enumerate(column)} for name, column in COLUMNS.items()},
    ],
    ids=("list", "under a key", "beside settings", "columns", "nested columns", "by step", "pandas"),
)
@pytest.mark.parametrize("indent", [None, 2])
def test_each_shape_gives_the_same_curve(tmp_path: Path, document: Any, indent: int | None) -> None:
    path = write(tmp_path, document, indent=indent)
    assert discover(path)[0].files[0][1].name == "json_document"
    curves = read(path, Options()).curves
    (reward,) = (curve for key, curve in curves.items() if key.endswith("reward"))
    assert reward.value.tolist() == COLUMNS["reward"]
    assert reward.step.tolist() == COLUMNS["step"]


def test_rows_with_a_step_are_found_in_a_folder_and_others_are_not(tmp_path: Path) -> None:
    path = write(tmp_path, ROWS)
    assert sniff(path) == pytest.approx(0.6)
    assert sniff(write(tmp_path, COLUMNS, "columns.json")) == pytest.approx(0.6)
    assert sniff(write(tmp_path, [{"reward": 1.0}] * 5, "bare.json")) == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("config.json", {"steps": [1000, 2000, 3000], "sizes": [64, 64, 64]}),
        ("schedule.json", {"milestones": [1, 2, 3]}),
        ("tokenizer.json", {"added_tokens": [{"id": 0, "content": "<pad>"}], "model": {"vocab": {"a": 0}}}),
        ("package.json", {"name": "x", "files": ["a", "b", "c"]}),
        ("completions.json", [{"prompt": "a", "completion": "b", "step": 1}]),
    ],
)
def test_what_only_looks_like_rows_is_left_in_a_folder(tmp_path: Path, name: str, document: Any) -> None:
    assert sniff(write(tmp_path, document, name)) < 0.5


def test_settings_beside_the_rows_are_settings(tmp_path: Path) -> None:
    found = read(write(tmp_path, {"config": {"gamma": 0.9, "net": {"width": 8}}, "history": ROWS}), Options())
    assert found.config == {"gamma": 0.9, "net.width": 8}


def test_what_was_written_before_a_cut_is_kept_and_told(tmp_path: Path) -> None:
    path = tmp_path / "half.json"
    path.write_text(json.dumps(ROWS)[:-20])
    found = read(path, Options())
    assert found.curves["reward"].value.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert "cut off; 4 rows" in found.problems[0].what


def test_lists_of_another_length_are_left_and_told(tmp_path: Path) -> None:
    found = read(write(tmp_path, COLUMNS | {"loss": [0.5] * 100}), Options())
    assert sorted(found.curves) == ["reward"]
    assert "1 lists have another length than the 5" in found.problems[0].what


@pytest.mark.parametrize("text", ["[1, 2, 3]", '{"a": 1}', "[]", '{"a": ["x", null]}', '[{"a": "b"}]', "{", "nonsense"])
def test_a_document_without_rows_says_what_one_looks_like(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(InputError):
        read(path, Options())
