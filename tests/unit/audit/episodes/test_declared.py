"""Tools are read from the JSON of a prompt, and arguments are held against their schema."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.audit.episodes.declared import breach, tools_of
from tests.audit.desk import SYSTEM, TOOLS

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "lines": {"type": "integer"},
        "share": {"type": "number"},
        "mode": {"type": "string", "enum": ["r", "w"]},
        "note": {"type": ["string", "null"]},
        "deep": {"type": "bool"},
    },
    "required": ["path"],
}


def test_tools_are_read_one_a_line() -> None:
    assert dict(tools_of(SYSTEM)) == TOOLS


def test_tools_are_read_from_a_list_between_tags() -> None:
    listed = [{"name": "a", "input_schema": {"type": "object"}}, {"function": {"name": "b", "parameters": {}}}]
    assert set(tools_of(f"Tools: <tools>{json.dumps(listed)}</tools> Good luck {{}}")) == {"a", "b"}
    assert set(tools_of(json.dumps({"name": "c", "inputSchema": {}}))) == {"c"}


@pytest.mark.parametrize(
    "text", ["", "no tools", '{"name": "x"}', '{"parameters": {"a": 1}}', '{"name": 3, "parameters": {}}', "{" * 4000]
)
def test_without_declarations_there_are_no_tools(text: str) -> None:
    assert not tools_of(text)


def test_deeply_nested_json_is_survived() -> None:
    assert not tools_of('{"parameters": ' * 5000)


@pytest.mark.parametrize(
    ("given_", "how"),
    [
        ({"path": "a"}, ""),
        ({"path": "a", "lines": 3, "share": 3, "mode": "r", "note": None}, ""),
        ({"path": "a", "lines": 3.0}, ""),
        ({"path": "a", "other": 1}, ""),
        ({"path": "a", "deep": 3}, ""),
        ({}, "missing"),
        ({"path": 3}, "type"),
        ({"path": "a", "lines": "3"}, "type"),
        ({"path": "a", "lines": True}, "type"),
        ({"path": "a", "lines": 3.5}, "type"),
        ({"path": "a", "mode": "x"}, "choice"),
    ],
)
def test_breaches(given_: dict[str, Any], how: str) -> None:
    assert breach(SCHEMA, given_) == how


def test_unknown_arguments_break_a_closed_schema() -> None:
    assert breach(SCHEMA | {"additionalProperties": False}, {"path": "a", "other": 1}) == "unknown"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["properties", "required", "additionalProperties", "x"]), JSON), JSON)
def test_any_schema_is_survived(schema: dict[str, Any], value: Any) -> None:
    assert breach(schema, {"a": value}) in ("", "missing", "unknown", "type", "choice")


@given(st.text(max_size=200))
def test_any_prompt_is_survived(text: str) -> None:
    assert isinstance(dict(tools_of(text + '"parameters"')), dict)
