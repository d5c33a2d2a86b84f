"""Points gathered one by one into compact arrays, and JSON values sorted into numbers, texts and the rest."""

from __future__ import annotations

import json
import math
from array import array
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from ..series import Curve

NONFINITE = {
    "nan": math.nan,
    "inf": math.inf,
    "+inf": math.inf,
    "-inf": -math.inf,
    "infinity": math.inf,
    "+infinity": math.inf,
    "-infinity": -math.inf,
}
"""The words (in lower case) that loggers write where JSON has no number."""
DEEPEST = 20


class NotJsonError(ValueError):
    """A text that should be JSON is not."""


def parse_json(text: str | bytes) -> Any:
    """Parse JSON; NaN and Infinity are accepted. Raises `NotJsonError`, whatever is wrong with it."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotJsonError(str(error)) from error


def as_number(value: Any) -> float | None:
    """Return `value` as a number if it is one, a truth value or the word for a non-finite number."""
    if isinstance(value, (bool, int, float)):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return NONFINITE.get(value.lower()) if isinstance(value, str) and len(value) <= 9 else None


@dataclass
class Points:
    """Numbers under many keys, in the order they came, with texts and the tags of what is neither."""

    texts: dict[str, str] = field(default_factory=dict[str, str])
    unread: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    _columns: dict[str, tuple[array[float], array[float], array[float]]] = field(
        default_factory=dict[str, tuple["array[float]", "array[float]", "array[float]"]]
    )

    def add(self, key: str, step: float, wall: float, value: float) -> None:
        """Append one point."""
        column = self._columns.get(key)
        if column is None:
            column = self._columns[key] = (array("d"), array("d"), array("d"))
        column[0].append(step)
        column[1].append(wall)
        column[2].append(value)

    def add_json(self, key: str, step: float, wall: float, value: Any, depth: int = 0) -> None:
        """Append what a JSON `value` holds: numbers as points (members of objects under `key.member`), texts."""
        number = as_number(value)
        if number is not None:
            self.add(key, step, wall, number)
        elif isinstance(value, str):
            self.texts[key] = value
        elif isinstance(value, dict):
            members = cast(dict[str, Any], value)
            kind = members.get("_type")
            if isinstance(kind, str) or depth >= DEEPEST:
                self.unread.setdefault(kind if isinstance(kind, str) else "nested value", set()).add(key)
                return
            for name, member in members.items():
                self.add_json(f"{key}.{name}", step, wall, member, depth + 1)
        elif value is not None:
            self.unread.setdefault("list", set()).add(key)

    def curves(self) -> dict[str, Curve]:
        """Return a curve for each key; `wall` is None where no point has one."""
        found: dict[str, Curve] = {}
        for key, (step, wall, value) in self._columns.items():
            times = np.frombuffer(wall, dtype=np.float64).copy()
            known = bool(np.isfinite(times).any())
            found[key] = Curve(
                np.frombuffer(step, dtype=np.float64).copy(),
                np.frombuffer(value, dtype=np.float64).copy(),
                times if known else None,
            )
        return found

    def unread_sentences(self) -> list[str]:
        """Return one sentence for each kind of value that is not read."""
        sentences: list[str] = []
        for kind, keys in sorted(self.unread.items()):
            names = ", ".join(sorted(keys)[:3]) + (", ..." if len(keys) > 3 else "")
            sentences.append(f"values of kind {kind!r} under {len(keys)} keys were not read: {names}.")
        return sentences
