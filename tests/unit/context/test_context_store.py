"""Writing and reading records: whole or not at all, and anything may lie in the file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.context import store
from firstbreak.context.contents import NAME, Code, Context, Ending, Mark
from firstbreak.errors import FirstbreakError, InputError, UnreadableError

words = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
plain = st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.floats(-1e9, 1e9), words)
marks = st.builds(Mark, words, words, st.integers(0, 2**40), st.integers(0, 9), words)
contexts = st.builds(
    Context,
    created=words,
    command=st.lists(words, max_size=4).map(tuple),
    folder=words,
    config=st.dictionaries(words, plain, max_size=4),
    seeds=st.dictionaries(words, st.integers(0, 9), max_size=2),
    code=st.builds(Code, commit=words, diff=words, cut=st.booleans(), untracked=st.lists(words, max_size=2).map(tuple)),
    packages=st.dictionaries(words, words, max_size=3),
    environment=st.dictionaries(words, words, max_size=3),
    inputs=st.lists(marks, max_size=2).map(tuple),
    rewards=st.lists(marks, max_size=2).map(tuple),
    ending=st.builds(Ending, words.filter(bool), st.one_of(st.none(), st.integers(0, 255)), words),
    notes=st.lists(words, max_size=2).map(tuple),
)


@given(contexts)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, context: Context) -> None:
    folder = tmp_path_factory.mktemp("run")
    assert store.read(store.write(context, folder)) == context
    assert store.read(folder) == context
    assert os.listdir(folder) == [NAME]


def test_numbers_that_are_not_finite_are_written_by_name(tmp_path: Path) -> None:
    store.write(Context("now", config={"a": float("nan"), "b": [float("inf")]}), tmp_path)
    assert store.read(tmp_path).config == {"a": "nan", "b": ["inf"]}


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), words),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(words, inner, max_size=3)),
    max_leaves=8,
)
FIELDS = (
    "created",
    "command",
    "config",
    "seeds",
    "code",
    "packages",
    "hardware",
    "inputs",
    "ending",
    "notes",
    "schema",
)


@given(st.dictionaries(st.sampled_from(FIELDS), json_values, max_size=5))
def test_any_json_is_read_or_refused_in_words(tmp_path_factory: pytest.TempPathFactory, data: dict[str, Any]) -> None:
    path = tmp_path_factory.mktemp("run") / NAME
    path.write_text(json.dumps({"schema": 1, **data}))
    told = ""
    try:
        store.read(path)
    except FirstbreakError as error:
        told = str(error)
    assert not told or (str(path) in told and "\n" in told)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"schema": "1"}', "\x00", '{"schema": 99}', "[" * 100_000])
def test_what_is_no_record_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / NAME).write_text(text)
    with pytest.raises(InputError):
        store.read(tmp_path)
    assert store.find(tmp_path) is None


def test_a_missing_record_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="firstbreak record"):
        store.read(tmp_path)
    assert store.find(tmp_path / "log.csv") is None


def test_an_earlier_record_is_kept(tmp_path: Path) -> None:
    for created in ("first", "second", "third"):
        store.keep_earlier(tmp_path)
        store.write(Context(created), tmp_path)
    assert store.read(tmp_path).created == "third"
    assert [store.read(tmp_path / f"firstbreak-context-{n}.json").created for n in (1, 2)] == ["first", "second"]


def test_a_record_is_found_beside_a_log_and_above_it(tmp_path: Path) -> None:
    store.write(Context("now"), tmp_path)
    (tmp_path / "tb").mkdir()
    (tmp_path / "tb" / "events").write_text("")
    assert store.find(tmp_path) == store.find(tmp_path / "progress.csv") == store.find(tmp_path / "tb" / "events")


def test_a_place_that_cannot_be_written_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnreadableError, match="cannot be written"):
        store.write(Context("now"), tmp_path / "file")
    assert os.listdir(tmp_path) == ["file"]
