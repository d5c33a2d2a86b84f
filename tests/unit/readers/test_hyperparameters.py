"""Hyper-parameters logged as text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.readers.hyperparameters import exact, json_object, markdown_table


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3", 3),
        ("-7", -7),
        ("0.5", 0.5),
        ("1e-05", 1e-5),
        (".5", 0.5),
        ("True", True),
        ("false", False),
        ("None", None),
        ("CartPole-v1", "CartPole-v1"),
        ("1_000", "1_000"),
        ("nan", "nan"),
        ("12345678901234567890", "12345678901234567890"),
        ("", ""),
    ],
)
def test_only_plain_numbers_are_converted(text: str, expected: object) -> None:
    found = exact(text)
    assert found == expected
    assert type(found) is type(expected)


def test_table_keeps_bars_inside_values() -> None:
    assert markdown_table("|param|value|\n|-|-|\n|net|a|b|\n|lr|0.1|\n|track|False|") == {
        "net": "a|b",
        "lr": 0.1,
        "track": False,
    }


@pytest.mark.parametrize("text", ["", "a note", "|only|head|\n|-|-|", "# title\ntext\nmore", "|a|b|\n|c|d|\n|e|f|"])
def test_other_texts_are_no_table(text: str) -> None:
    assert markdown_table(text) == {}


def test_json() -> None:
    assert json_object('{"beta": 0.0, "n": null}') == {"beta": 0.0, "n": None}
    assert json_object("[1]") == json_object("{") == json_object("[" * 100_000) == {}


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_accepted(text: str) -> None:
    assert isinstance(markdown_table(text), dict)
    assert isinstance(json_object(text), dict)
    exact(text)
