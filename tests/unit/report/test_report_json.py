from __future__ import annotations

import json
import math
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.diagnosis import Diagnosis
from firstbreak.errors import InputError
from firstbreak.report.json import clean, document, dumps, error_document, run_dict

SCHEMA = json.loads(files("firstbreak.report").joinpath("schema.json").read_text("utf-8"))
TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}


def complaints(value: Any, schema: dict[str, Any], at: str = "$") -> list[str]:
    """The part of JSON Schema that ours uses, checked in full."""
    unknown = schema.keys() - {"$ref", "anyOf", "type", "required", "properties", "additionalProperties", "items"}
    assert unknown <= {"enum", "const", "description", "title", "$schema", "$defs"}, unknown
    if "$ref" in schema:
        return complaints(value, SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]], at)
    if "anyOf" in schema:
        tries = [complaints(value, option, at) for option in schema["anyOf"]]
        return [] if any(not t for t in tries) else min(tries, key=len)
    found: list[str] = []
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{at}: {value!r} not in {schema['enum']}")
    if "const" in schema and value != schema["const"]:
        found.append(f"{at}: {value!r} is not {schema['const']!r}")
    if "type" in schema:
        names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        fits = any(isinstance(value, TYPES[n]) and not (isinstance(value, bool) and n != "boolean") for n in names)
        if not fits:
            return [*found, f"{at}: {type(value).__name__} is not {names}"]
    if isinstance(value, dict):
        found += [f"{at}: lacks {key}" for key in schema.get("required", ()) if key not in value]
        for key, item in value.items():
            known = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
            if known is not None:
                found += complaints(item, known, f"{at}.{key}")
            elif "properties" in schema:
                found.append(f"{at}: the schema does not know {key}")
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            found += complaints(item, schema["items"], f"{at}[{index}]")
    return found


@pytest.mark.parametrize("kind", ["broken", "healthy", "undecided"])
def test_document_follows_the_schema(kind: str, request: pytest.FixtureRequest) -> None:
    diagnosis: Diagnosis = request.getfixturevalue(kind)
    made = json.loads(dumps(document([diagnosis])))
    assert complaints(made, SCHEMA) == []
    assert made["schema_version"] == 1
    assert made["runs"][0]["verdict"] == kind


def test_schema_would_notice_a_missing_field_and_a_wrong_link(broken: Diagnosis) -> None:
    made = json.loads(dumps(document([broken])))
    del made["runs"][0]["coverage"]
    made["runs"][0]["first_break"]["link"] = "somewhere"
    found = " ".join(complaints(made, SCHEMA["anyOf"][0]))
    assert "lacks coverage" in found
    assert "somewhere" in found


def test_contract_of_docs_design_section_8(broken: Diagnosis) -> None:
    run = run_dict(broken)
    assert {
        "run",
        "verdict",
        "first_break",
        "causes",
        "findings",
        "coverage",
        "last_healthy_checkpoint",
        "advice",
    } <= run.keys()
    assert {"path", "framework", "algorithm", "state", "steps", "metrics", "provenance"} <= run["run"].keys()
    assert run["first_break"]["onset"] == {"lo": 412, "hi": 420, "clock": "updates", "p": 0.9}
    assert run["findings"][1]["consequence_of"] == "POL001"
    assert run["causes"][0]["remedies"][0] == {
        "text": "Reduce the epochs per batch.",
        "requires": ["environment_data", "reward_signal"],
        "provisional": True,
        "patches": [],
    }
    assert run["causes"][0]["confirm_with"][0]["command"] is None
    assert run["coverage"]["skipped"][1]["unlock_with"] == ["advantage/abs_max"]
    assert run["findings"][0]["evidence"]["worst"] == "inf"
    assert run["first_break"]["scope"] == {}


def test_nonfinite_numbers_are_strings() -> None:
    made = clean({"a": math.nan, "b": [math.inf, -math.inf], "c": np.float64("nan"), "d": np.int64(3), "e": 2.0})
    assert made == {"a": "nan", "b": ["inf", "-inf"], "c": "nan", "d": 3, "e": 2}


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text() | st.integers(), st.lists, max_leaves=8))
@settings(deadline=None, max_examples=60)
def test_anything_becomes_strict_ascii_json(value: object) -> None:
    text = dumps({"x": value})
    assert text.isascii()
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_terminal_escapes_of_a_log_stay_escaped(hostile: Diagnosis) -> None:
    text = dumps(document([hostile]))
    assert "\x1b" not in text
    assert all(c == "\n" or c.isprintable() for c in text)


def test_error_document_has_kind_message_and_hint() -> None:
    made = error_document(InputError("x: no such file.", "Check the path."))
    assert made == {"error": {"kind": "bad_input", "message": "x: no such file.", "hint": "Check the path."}}
    assert complaints(made, SCHEMA) == []
