"""Labels on disk survive crashes, other hands and garbage; samples find theirs again."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.audit.labels.api import agreement_of, with_labels
from firstbreak.audit.labels.record import Label, append, fingerprint, now, parsed, read
from firstbreak.audit.sample import Sample, ToolCall, Turn
from firstbreak.errors import InputError, UnreadableError

A, B = "a" * 32, "b" * 32


def test_the_last_word_of_each_labeller_counts(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    for score, who in ((0.0, "ann"), (1.0, "ben"), (0.5, "ann"), (math.nan, "ben")):
        append(path, Label(A, score, who, now()))
    append(path, Label(B, 1.0, "ben", now(), (A,)))
    found = read(path)
    assert found.scores == {A: {"ann": 0.5, "ben": 1.0}, B: {"ben": 1.0}}
    assert found.score(A) == 0.75
    assert math.isnan(found.score("c" * 32))
    assert (found.lines, found.unreadable) == (5, 0)


def test_a_label_taken_back_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    append(path, Label(A, 1.0, "ann", now()))
    append(path, Label(A, math.nan, "ann", now()))
    assert read(path).scores == {}


def test_nothing_is_ever_overwritten_and_a_torn_line_costs_itself_only(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    append(path, Label(A, 1.0, "ann", now()))
    before = path.read_bytes() + b'{"content": "torn'
    path.write_bytes(before)
    append(path, Label(B, 0.0, "ann", now()))
    assert path.read_bytes().startswith(before + b"\n")
    found = read(path)
    assert found.scores == {A: {"ann": 1.0}, B: {"ann": 0.0}}
    assert found.unreadable == 1


GARBAGE = (b"", b"{}", b"[]", b"null", b"\xff\xfe", b'{"content": 3}', b"{" * 5000, b"[" * 100_000,
           json.dumps({"content": A, "score": 2, "labeller": "x"}).encode(),
           json.dumps({"content": A, "score": True, "labeller": "x"}).encode(),
           json.dumps({"content": A, "score": "1", "labeller": "x"}).encode(),
           json.dumps({"content": "A" * 32, "score": 1, "labeller": "x"}).encode(),
           json.dumps({"content": A, "score": 1, "labeller": "x", "also": 3}).encode(),
           b'{"content": "' + A.encode() + b'", "score": NaN, "labeller": "x"}')  # fmt: skip


@pytest.mark.parametrize("line", GARBAGE)
def test_garbage_is_no_label(line: bytes) -> None:
    assert parsed(line) is None


@given(st.binary(max_size=200))
def test_any_line_is_survived(line: bytes) -> None:
    found = parsed(line)
    assert found is None or isinstance(found, Label)


def test_a_file_of_garbage_is_read(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_bytes(b"\n".join(GARBAGE))
    assert read(path).scores == {}
    assert read(path).unreadable > 5


def test_a_file_that_holds_something_else_is_refused_where_labels_are_wanted(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_bytes(b"\x00\xff\n{}\n")
    with pytest.raises(InputError, match="none of its lines is a label"):
        agreement_of(path)
    append(path, Label(A, 1.0, "ann", now()))
    assert agreement_of(path) is None


def test_a_folder_of_files_is_read(tmp_path: Path) -> None:
    append(tmp_path / "ann.jsonl", Label(A, 1.0, "ann", now()))
    append(tmp_path / "ben.jsonl", Label(A, 0.0, "ben", now()))
    assert read(tmp_path).score(A) == 0.5
    found = agreement_of(tmp_path)
    assert found is not None
    assert found.units == 1


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file of labels"):
        read(tmp_path / "missing.jsonl")
    with pytest.raises(UnreadableError, match="cannot be written"):
        append(tmp_path / "no" / "labels.jsonl", Label(A, 1.0, "ann", now()))


SAMPLE = Sample("p", "r", 1.0, turns=(Turn("assistant", "", (ToolCall("t", "{}", "ok"),)),))


def test_the_fingerprint_is_that_of_what_a_labeller_sees() -> None:
    assert fingerprint(SAMPLE) == fingerprint(replace(SAMPLE, reward=0.0, row=7, step=3.0, source="x", group="g"))
    others = [
        replace(SAMPLE, prompt="q"), replace(SAMPLE, response="s"), replace(SAMPLE, turns=()),
        replace(SAMPLE, turns=(Turn("assistant", "", (ToolCall("t", "{}", "no"),)),)),
        replace(SAMPLE, prompt="pr", response=""), replace(SAMPLE, prompt="", response="pr"),
    ]  # fmt: skip
    assert len({fingerprint(s) for s in [SAMPLE, *others]}) == 7


@given(st.text(), st.text())
def test_any_text_has_a_fingerprint(prompt: str, response: str) -> None:
    mark = fingerprint(Sample(prompt, response + "\ud800"))
    assert len(mark) == 32
    assert parsed(json.dumps({"content": mark, "score": 1, "labeller": "x"}).encode()) is not None


def test_labels_become_human_scores(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    other = Sample("q", "s", 0.0, human=0.3)
    append(path, Label(fingerprint(SAMPLE), 0.75, "ann", now(), drawn=True))
    first, second = with_labels([SAMPLE, other], path)
    assert first.human == 0.75
    assert math.isnan(first.human_chosen)
    assert second is other


def test_a_label_of_a_chosen_sample_is_kept_apart_and_its_near_duplicates_too(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    other, third = Sample("q", "s", 0.0), Sample("q", "s.", 0.0)
    append(path, Label(fingerprint(SAMPLE), 0.75, "ann", now()))
    append(path, Label(fingerprint(other), 0.25, "ann", now(), (fingerprint(third),), drawn=True))
    chosen, drawn, duplicate = with_labels([SAMPLE, other, third], path)
    assert (chosen.human_chosen, drawn.human, duplicate.human_chosen) == (0.75, 0.25, 0.25)
    assert all(math.isnan(v) for v in (chosen.human, drawn.human_chosen, duplicate.human))
    assert [json.loads(line).get("drawn") for line in path.read_text().splitlines()] == [None, True]
