"""One row of a data file as the checks see it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .fields import NUMBERS, TEXTS, TOKENS, value_at
from .text import Text, reduce, text_of
from .turns import Turn, messages_in, said, split, turn_of

Ids = NDArray[np.int64]


@dataclass(slots=True)
class Sample:
    """One row: its texts, token lists and numbers by role, what was wrong with its cells, and its messages."""

    number: int
    texts: dict[str, Text] = field(default_factory=dict[str, Text])
    tokens: dict[str, Ids] = field(default_factory=dict[str, Ids])
    numbers: dict[str, float] = field(default_factory=dict[str, float])
    faults: dict[str, str] = field(default_factory=dict[str, str])
    """Role -> missing, nan or not-text."""
    turns: tuple[Turn, ...] = ()
    prompts_differ: bool = False
    """Whether chosen and rejected are conversations that begin differently."""

    @property
    def size(self) -> int:
        """About how many bytes it holds."""
        texts = sum(len(t.head) + len(t.tail) + 120 for t in self.texts.values())
        return 300 + texts + sum(ids.nbytes + 100 for ids in self.tokens.values()) + 90 * len(self.turns)


def sample_of(number: int, row: Mapping[str, Any], roles: Mapping[str, str]) -> Sample:
    """Return the row `number` with its cells sorted by role."""
    sample = Sample(number)
    for role in TEXTS:
        if role in roles:
            _take_text(sample, role, value_at(row, roles[role]))
    for role in NUMBERS:
        number_here = _number(value_at(row, roles[role])) if role in roles else None
        if number_here is not None:
            sample.numbers[role] = number_here
    for role in TOKENS:
        ids = _ids(value_at(row, roles[role])) if role in roles else None
        if ids is not None:
            sample.tokens[role] = ids
        elif role in roles:
            sample.faults[role] = "missing" if value_at(row, roles[role]) is None else "not-tokens"
    _take_messages(sample, row, roles)
    return sample


def _take_text(sample: Sample, role: str, value: Any) -> None:
    text = text_of(value)
    if text is not None:
        sample.texts[role] = reduce(text)
    elif value is None:
        sample.faults[role] = "missing"
    else:
        sample.faults[role] = "nan" if isinstance(value, float) and math.isnan(value) else "not-text"


def _take_messages(sample: Sample, row: Mapping[str, Any], roles: Mapping[str, str]) -> None:
    """Split conversations into a prompt and a reply where the file does not."""
    sides = {role: messages_in(value_at(row, roles[role])) for role in ("chosen", "rejected") if role in roles}
    prefixes: list[list[dict[str, Any]]] = []
    for role, messages in sides.items():
        if messages:
            before, reply = split(messages)
            prefixes.append(before)
            sample.texts[role] = reduce(said(reply))
    if len(prefixes) == 2:
        sample.prompts_differ = said(prefixes[0]) != said(prefixes[1])
        if "prompt" not in roles:
            sample.texts["prompt"] = reduce(said(prefixes[0]))
    messages = messages_in(value_at(row, roles["messages"])) if "messages" in roles else None
    if messages is None and "prompt" in roles:
        messages = messages_in(value_at(row, roles["prompt"]))
        sample.turns = tuple(turn_of(m) for m in messages or ())
        return
    if messages:
        sample.turns = tuple(turn_of(m) for m in messages)
        before, reply = split(messages)
        if "prompt" not in roles:
            sample.texts["prompt"] = reduce(said(before))
        calls = any(message.get("tool_calls") for message in reply)
        if reply and not calls and "completion" not in roles:
            sample.texts["completion"] = reduce(said(reply))
    elif "messages" in roles:
        sample.faults["messages"] = "missing" if value_at(row, roles["messages"]) is None else "not-messages"


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _ids(value: Any) -> Ids | None:
    """Return a list of whole numbers, also one that a table holds as text."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    if not isinstance(value, (list, tuple, np.ndarray)):
        return None
    try:
        found = np.asarray(cast("list[Any]", value))
        if found.size == 0:
            return np.empty(0, np.int64)
        if found.ndim != 1 or found.dtype.kind not in "iub":
            return None
        return found.astype(np.int64)
    except (ValueError, TypeError, OverflowError):
        return None
