"""Tools that a prompt declares, in the JSON that chat templates write."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, cast

Schema = Mapping[str, Any]
Tools = Mapping[str, Schema]
"""Name of a tool -> JSON schema of its arguments, empty where the prompt gives none."""

LONGEST = 200_000
"""Characters of a prompt that are searched. Engineering default: 50,000 tokens of declarations."""
MOST_OBJECTS = 500
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


@lru_cache(maxsize=64)
def tools_of(text: str) -> Tools:
    """Return the tools that JSON objects in `text` declare: `{"name", "parameters"}`, as such or as a function."""
    found: dict[str, Schema] = {}
    for thing in _objects(text[:LONGEST]):
        for one in _flat(thing):
            inner: Any = one.get("function", one)
            if not isinstance(inner, dict):
                continue
            said = cast(dict[str, Any], inner)
            schema = said.get("parameters", said.get("input_schema", said.get("inputSchema")))
            if isinstance(said.get("name"), str) and isinstance(schema, dict):
                found[said["name"]] = cast(Schema, schema)
    return found


def _objects(text: str) -> Iterator[Any]:
    decoder, place = json.JSONDecoder(), 0
    for _ in range(MOST_OBJECTS):
        starts = [p for p in (text.find("{", place), text.find("[{", place)) if p >= 0]
        if not starts or ('"parameters"' not in text and 'chema"' not in text):
            return
        place = min(starts)
        try:
            thing, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            place += 1
            continue
        yield thing


def _flat(thing: Any) -> Iterator[dict[str, Any]]:
    for one in cast(list[Any], thing) if isinstance(thing, list) else [thing]:
        if isinstance(one, dict):
            yield cast(dict[str, Any], one)


def breach(schema: Schema, given: Mapping[str, Any]) -> str:
    """Return how `given` breaks `schema`: missing, unknown, type or choice; empty where it keeps it.

    Looks at required, properties, type, enum and additionalProperties; other keywords are not judged.
    """
    properties = schema.get("properties")
    known = cast(dict[str, Any], properties) if isinstance(properties, dict) else {}
    required = schema.get("required")
    if isinstance(required, list) and any(
        isinstance(name, str) and name not in given for name in cast(list[Any], required)
    ):
        return "missing"
    if schema.get("additionalProperties") is False and any(name not in known for name in given):
        return "unknown"
    for name, value in given.items():
        wanted = known.get(name)
        if not isinstance(wanted, dict):
            continue
        said = cast(dict[str, Any], wanted)
        if not _fits(value, said.get("type")):
            return "type"
        choices = said.get("enum")
        if isinstance(choices, list) and value not in cast(list[Any], choices):
            return "choice"
    return ""


def _fits(value: Any, wanted: Any) -> bool:
    names = cast(list[Any], wanted) if isinstance(wanted, list) else [wanted]
    allowed = [_TYPES[n] for n in names if isinstance(n, str) and n in _TYPES]
    if not allowed or len(allowed) < len(names):
        return True
    if isinstance(value, bool):
        return (bool,) in allowed
    if isinstance(value, float) and value.is_integer() and (int,) in allowed:
        return True
    return any(isinstance(value, kinds) for kinds in allowed)
