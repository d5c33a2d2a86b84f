"""Hyper-parameters that were logged as text: a markdown table, or one JSON object."""

from __future__ import annotations

import json
import re
from typing import Any

_INTEGER = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][+-]?\d+)?")
_WORDS: dict[str, Any] = {"True": True, "true": True, "False": False, "false": False, "None": None, "null": None}


def exact(text: str) -> Any:
    """Return the integer, number, truth value or None that `text` plainly writes, else `text` itself."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text


def markdown_table(text: str) -> dict[str, Any]:
    """Return the rows of a two-column markdown table `|param|value|`, as CleanRL writes it; {} if it is not one."""
    rows = [line.strip() for line in text.splitlines() if line.strip()]
    if len(rows) < 3 or not rows[0].startswith("|") or set(rows[1]) - set("|-: "):
        return {}
    found: dict[str, Any] = {}
    for row in rows[2:]:
        name, bar, value = row.removeprefix("|").partition("|")
        if bar and name.strip():
            found[name.strip()] = exact(value.removesuffix("|").strip())
    return found


def json_object(text: str) -> dict[str, Any]:
    """Return the JSON object that `text` is, or {}."""
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return {str(name): value for name, value in found.items()} if isinstance(found, dict) else {}  # type: ignore[reportUnknownVariableType,reportUnknownArgumentType,reportUnknownMemberType]
