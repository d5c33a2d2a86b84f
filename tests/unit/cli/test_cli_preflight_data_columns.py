"""`firstbreak preflight data FILE --column ROLE=NAME`: fields with odd names, and misspelt ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Answer

Call = Callable[..., Answer]


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    rows = [
        {"frage": f"Where is {i} amberwood{i % 7}?", "antwort": f"amberwood{i % 7} is there {i}"} for i in range(99)
    ]
    path = tmp_path / "odd.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_fields_with_odd_names_are_read(call: Call, odd: Path) -> None:
    seen = call("preflight", "data", odd, "--column", "prompt=frage", "--column", "answer=antwort", "--format", "json")
    assert seen.status == 0
    assert json.loads(seen.out)["details"]["roles"] == {"prompt": "frage", "answer": "antwort"}


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (None, "--column prompt=NAME"),
        ("promt=frage", "'prompt'"),
        ("prompt=frge", "'frage'"),
        ("frage", "ROLE=NAME"),
    ],
)
def test_what_is_not_known_is_told(call: Call, odd: Path, column: str | None, said: str) -> None:
    seen = call("preflight", "data", odd, *([] if column is None else ["--column", column]))
    assert seen.status == 2
    assert said in seen.err
