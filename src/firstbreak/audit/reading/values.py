"""Cells of unknown kind as numbers, texts, truths and lists; what does not fit is None or NaN, never an exception."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, cast

from ..sample import NAN

YES = frozenset({"true", "yes", "1", "1.0", "y", "passed", "pass", "solved", "success", "successful", "correct"})
NO = frozenset({"false", "no", "0", "0.0", "n", "failed", "fail", "unsolved", "failure", "incorrect", "wrong"})
LARGEST = 3.4e38
"""Larger numbers are taken as infinite: columns are kept as 32-bit floats (IEEE 754 binary32)."""
LONGEST_NUMBER = 64
"""Characters of a text that may still be a number."""


def number(value: Any) -> float:
    """Return a finite number, NaN where there is none. Booleans count as 0 and 1, texts that spell a number as it."""
    if type(value) is float:  # the usual case first: a million rows ask a dozen times each
        return value if -LARGEST <= value <= LARGEST else NAN
    if value is None or (isinstance(value, str) and len(value) > LONGEST_NUMBER):
        return NAN
    if not isinstance(value, (int, float, str)):
        value = _scalar(value)
        if value is None:
            return NAN
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return NAN
    return found if -LARGEST <= found <= LARGEST else NAN


def known(value: float) -> bool:
    """Whether a number is one: NaN means that the log does not say."""
    return not math.isnan(value)


def _scalar(value: Any) -> Any:
    """Return what a list of one element holds, or the value of a numpy scalar."""
    if isinstance(value, (list, tuple)):
        entries = cast("list[Any]", value)
        return entries[0] if len(entries) == 1 and isinstance(entries[0], (int, float)) else None
    item = getattr(value, "item", None)
    if item is None or getattr(value, "size", 1) != 1:
        return None
    found = item()
    return found if isinstance(found, (int, float)) else None


def is_infinite(value: Any) -> bool:
    """Whether a cell holds infinity, which no score should, or what a 32-bit float cannot tell from it."""
    return isinstance(value, float) and abs(value) > LARGEST


def total(value: Any) -> float:
    """Return a number, or the sum of a list of numbers (rewards of tokens, turns or steps); NaN where neither."""
    if isinstance(value, (list, tuple)):
        entries = cast("list[Any]", value)
        found = [number(entry) for entry in entries]
        finite = [one for one in found if known(one)]
        return number(sum(finite)) if finite and len(finite) == len(found) else NAN
    return number(value)


def mean(value: Any) -> float:
    """Return a number, or the mean of a list of numbers; NaN where neither."""
    if value is None:
        return NAN
    size = len(cast("list[Any]", value)) if isinstance(value, (list, tuple)) else 1
    return total(value) / size if size else NAN


def truth(value: Any) -> bool | None:
    """Return a yes or no, None where the cell says neither."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return None if not known(value) else value > 0.5
    if isinstance(value, str):
        word = value[:16].strip().lower()
        return True if word in YES else False if word in NO else None
    found = number(value)
    return None if not known(found) else found > 0.5


def text(value: Any) -> str:
    """Return the text of a cell: a string as it stands, a number written out, lists and objects as JSON."""
    if isinstance(value, str):
        return value if value.isascii() else whole(value)
    if value is None or (isinstance(value, float) and not known(value)):
        return ""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, (list, tuple, dict)):
        try:
            return whole(json.dumps(value, ensure_ascii=False, default=str))
        except (ValueError, RecursionError):
            return ""
    return whole(str(value))


def whole(words: str) -> str:
    """Return a text without halves of surrogate pairs, which nothing could write or print."""
    try:
        words.encode()
    except UnicodeEncodeError:
        return words.encode("utf-8", "replace").decode()
    return words


def decoded(value: Any) -> Any:
    """Return the list or object that a text spells in JSON, as tables hold them; anything else unchanged."""
    if isinstance(value, str) and value[:1] in {"[", "{"}:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def whole_numbers(value: Any) -> tuple[int, ...] | None:
    """Return a list of whole numbers or truths as integers, None where it is none."""
    value = decoded(value)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, (list, tuple)):
        return None
    entries = cast("list[Any]", value)
    if len(entries) == 1 and isinstance(entries[0], list):
        entries = cast("list[Any]", entries[0])
    kinds = set(map(type, entries))
    if kinds <= {int}:
        return tuple(cast("list[int]", entries))
    if kinds <= {int, bool, float} and all(type(entry) is not float or entry.is_integer() for entry in entries):
        return tuple(map(int, entries))
    return None


def decimals(value: Any) -> tuple[float, ...] | None:
    """Return a list of numbers, None where it is none; what is missing in it becomes NaN."""
    value = decoded(value)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, (list, tuple)):
        return None
    entries = cast("list[Any]", value)
    if len(entries) == 1 and isinstance(entries[0], list):
        entries = cast("list[Any]", entries[0])
    if not all(entry is None or isinstance(entry, (int, float)) for entry in entries):
        return None
    return tuple(number(entry) for entry in entries)


def mapping(value: Any) -> Mapping[str, Any] | None:
    """Return an object, also one that a table holds as JSON; None where it is none."""
    value = decoded(value)
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else None
