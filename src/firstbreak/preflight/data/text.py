"""A text reduced to what the checks need: its length, two fingerprints, its beginning and its end."""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

KEPT = 2000
"""Characters kept of each end of a text; two pages tell a template, a refusal or a cut as well as ten."""
_EDGE = string.punctuation + string.whitespace


@dataclass(frozen=True, slots=True)
class Text:
    """One text. `exact` and `normal` are equal for equal texts, the latter also up to case, space and punctuation."""

    length: int
    exact: int
    normal: int
    head: str
    tail: str = ""

    @property
    def kept(self) -> str:
        """The beginning and, where it was cut, the end."""
        return f"{self.head}\n{self.tail}" if self.tail else self.head

    @property
    def end(self) -> str:
        """The last characters."""
        return self.tail or self.head

    @property
    def empty(self) -> bool:
        """Whether there is nothing but white space."""
        return not self.head.strip() and not self.tail.strip()


def reduce(text: str) -> Text:
    """Return `text` reduced; the fingerprints hold within one process."""
    long = len(text) > 2 * KEPT
    return Text(
        length=len(text),
        exact=hash(text),
        normal=hash(normalised(text)),
        head=text[:KEPT] if long else text,
        tail=text[-KEPT:] if long else "",
    )


def normalised(text: str) -> str:
    """Return `text` without case, runs of white space, and punctuation at its ends."""
    return " ".join(text.casefold().split()).strip(_EDGE)


def text_of(value: Any) -> str | None:
    """Return the text of a cell: a string, a number, or a list of messages or strings; None when it is none of these.

    NaN is no text, and neither is an empty cell that stands for "missing".
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, (int, float)):
        return f"{value:g}" if math.isfinite(value) else None
    if isinstance(value, (list, tuple)):
        parts = [part_of(one) for one in cast("Sequence[Any]", value)]
        return "\n".join(p for p in parts if p is not None) if parts and None not in parts else None
    return None


def part_of(one: Any) -> str | None:
    """Return the text of one message or one entry of a list."""
    if isinstance(one, dict):
        message = cast("dict[str, Any]", one)
        content = message.get("content", message.get("value", message.get("text")))
        return text_of(content)
    return text_of(one) if isinstance(one, (str, int, float)) else None
