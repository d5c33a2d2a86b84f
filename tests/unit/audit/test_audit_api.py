"""`audit`: real files in, an inspection out; what it says of what it cannot see."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.audit.api import audit, read_table
from firstbreak.audit.summary import commonest, repeated, thinned
from firstbreak.audit.table import Table
from firstbreak.errors import FirstbreakError, UnknownNameError

WORDS = "we find that the sum of both sides is equal to the number that we look for"
SECRET = "zebra-crossing-9000"


def write(path: Path, count: int = 160, **columns: object) -> Path:
    """Write a file of groups of 8; a column is a value or a function of the row."""
    source = random.Random(0)
    words = WORDS.split()
    with path.open("w", encoding="utf-8") as file:
        for i in range(count):
            row = {
                "prompt": f"Problem {i // 8}: {SECRET} {WORDS}",
                "completion": " ".join(source.choices(words, k=40)) + f" {i}.",
                **{name: value(i) if callable(value) else value for name, value in columns.items()},
            }
            file.write(json.dumps(row) + "\n")
    return path


def paid(row: int) -> float:
    return random.Random(row).random()


def test_details(tmp_path: Path) -> None:
    seen = audit(write(tmp_path / "s.jsonl", reward=paid, human_score=paid, step=lambda i: i // 32))
    assert seen.kind == "samples"
    assert (seen.details["samples"], seen.details["groups"]) == (160, 20)
    assert sum(seen.details["formats"].values()) == 1
    assert {"reward", "human", "step"} <= set(seen.details["known"])
    titles = [table["title"] for table in seen.details["tables"]]
    assert "what the log says" in titles
    assert "the triad, against first steps" in titles
    json.dumps(seen.details)


def test_no_text_of_a_sample_is_in_the_inspection(tmp_path: Path) -> None:
    seen = audit(write(tmp_path / "s.jsonl", reward=paid))
    assert SECRET not in repr(seen)


@pytest.mark.parametrize(
    ("columns", "note"),
    [
        ({}, "no rewards"),
        ({"reward": 1.0}, "no human scores"),
        ({"reward": 1.0}, "no steps and no reference"),
    ],
)
def test_what_cannot_be_seen_is_said(tmp_path: Path, columns: dict[str, object], note: str) -> None:
    seen = audit(write(tmp_path / "s.jsonl", **columns))
    assert any(note in one for one in seen.notes)


def test_what_is_there_is_not_missed(tmp_path: Path) -> None:
    seen = audit(write(tmp_path / "s.jsonl", reward=paid, human_score=paid, step=lambda i: i // 32))
    assert not any("no human" in one or "no rewards" in one or "no steps" in one for one in seen.notes)


def test_a_reference_shows_what_changed(tmp_path: Path) -> None:
    before = write(tmp_path / "before.jsonl", reward=paid)
    after = write(tmp_path / "after.jsonl", reward=lambda i: paid(i) + 1, completion=lambda i: f"- item {i}\n" * 40)
    triad = audit(after, reference=before).details["triad"]
    assert triad["against"] == "reference"
    assert triad["reward_up"] is True
    assert triad["side_changed"] is True
    assert triad["evaluation_kept_up"] is None
    assert "text/markup_lines_frac" in triad["side"]


def test_columns_with_odd_names(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", judge_v2=float)
    table, report = read_table(path, columns={"reward": "judge_v2"})
    assert table.columns["reward"].tolist() == list(range(160))
    assert report.rows == 160
    with pytest.raises(UnknownNameError, match="rewad"):
        audit(path, columns={"rewad": "judge_v2"})


def test_rows_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", reward=paid)
    with path.open("a", encoding="utf-8") as file:
        file.write("{broken\n[]\n")
    seen = audit(path)
    assert seen.details["rows_unreadable"] == 2
    assert any("2 rows could not be read" in one for one in seen.notes)


def test_every_check_is_heard_of(tmp_path: Path) -> None:
    heard: list[str] = []
    seen = audit(write(tmp_path / "s.jsonl", reward=paid), tell=lambda look: heard.append(look.check))
    told = {f.name for f in seen.findings} | set(seen.clear) | {s.name for s in seen.skipped}
    assert set(heard) == told
    assert not seen.errors


@pytest.mark.parametrize("content", [None, "", "\n\n", "not samples at all\n", '{"a": 1}\n'])
def test_nothing_to_read(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "s.jsonl"
    if content is not None:
        path.write_text(content, "utf-8")
    with pytest.raises(FirstbreakError) as caught:
        audit(path)
    assert caught.value.message
    assert caught.value.hint


@given(st.lists(st.integers(0, 4), max_size=20))
def test_shares_of_openings_and_of_repeated_responses(values: list[int]) -> None:
    marks = np.array(values, np.uint64)
    most = max((values.count(v) for v in values if v), default=0)
    assert commonest(marks) == pytest.approx(most / len(values) if most > 1 else 0)
    twice = sum(values.count(v) > 1 for v in values)
    assert repeated(marks) == pytest.approx(twice / len(values) if values else 0)


def test_a_large_table_is_thinned_by_whole_groups() -> None:
    random = np.random.default_rng(0)
    group = np.repeat(random.integers(0, 1 << 63, 500, dtype=np.uint64), 4)
    table = Table("t", {"reward": np.arange(2000, dtype=np.float32)}, group)
    small = thinned(table, 400)
    assert 400 <= small.n <= 404
    assert set(np.unique(small.group, return_counts=True)[1]) == {4}
    assert np.array_equal(group[small.columns["reward"].astype(int)], small.group)
    assert thinned(table, 2000) is table


def test_a_table_of_one_sample(tmp_path: Path) -> None:
    seen = audit(write(tmp_path / "s.jsonl", count=1, reward=math.pi))
    assert seen.details["samples"] == 1
    assert not seen.errors


def test_what_could_not_be_read_is_among_the_first_notes(tmp_path: Path):
    path = tmp_path / "samples.jsonl"
    rows = [json.dumps({"prompt": f"q{i}", "response": f"r{i}", "reward": i % 2}) for i in range(20)]
    path.write_bytes("\n".join([*rows, "not json"]).encode() + b'\n{"prompt":"\xff","response":"x","reward":1}\n')
    seen = audit(path)
    assert seen.notes[0].startswith("1 row could not be read: not valid JSON")
    assert "not valid UTF-8" in seen.notes[1]
    assert any(note.startswith("no human scores") for note in seen.notes[2:])


def test_samples_without_a_prompt_are_no_rivals_and_the_report_says_so(tmp_path: Path) -> None:
    path = tmp_path / "content.jsonl"
    rows = [
        {"response": f"the same words again and again {i % 3}", "reward": float(i % 2), "family": f"f{i % 20}"}
        for i in range(120)
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    table, _ = read_table(path)
    assert (table.unnamed, table.groups) == (120, 120)
    assert np.unique(table.prompts).size == 1  # nor do we know that their prompts differ
    found = audit(path)
    assert any("no prompt or group" in note for note in found.notes)
    assert not {"prompt-groups-flat", "rivals-alike", "same-answer-paid-everywhere"} & {f.name for f in found.findings}
    named = audit(path, columns={"group": "family"})
    assert "prompt-groups-flat" in {f.name for f in named.findings}
