"""Preference pairs in RewardBench's format, and golden responses."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ...errors import InputError
from ...preflight.data.fields import ALIASES, names_in, value_at
from ...preflight.data.reading import Row, Rows
from .sections import section_of

MOST_PAIRS = 2000
"""Pairs drawn of a file. Engineering default: intervals of two points, minutes for a model of some billions."""
CATEGORIES = ("subset", "category", "section", "dataset", "source", "task")
SCORES = ("score", "reward", "scores", "value", "before")
LONGEST = 200_000
"""Characters of one text; longer rows are left out."""


@dataclass(frozen=True)
class Pair:
    """One preference: `row` tells the line of the file, several pairs of one line share it."""

    row: int
    prompt: str
    chosen: str
    rejected: str
    subset: str = ""

    @property
    def section(self) -> str:
        """RewardBench's section of the subset, or the subset itself."""
        return section_of(self.subset)


@dataclass(frozen=True)
class Golden:
    """One response with the score it had when it was recorded."""

    prompt: str
    response: str
    before: float


def read_pairs(path: Path, most: int = MOST_PAIRS) -> tuple[list[Pair], int]:
    """Return at most `most` pairs of a JSONL, CSV or Parquet file, drawn evenly, and the number of rows left out.

    Raises:
        InputError: no row holds prompt, chosen and rejected.
        UnreadableError: there is no such file.
    """
    kept: list[list[Pair]] = []
    seen = bad = 0
    draw = random.Random(0)  # noqa: S311 (a sample, no secret)
    names: dict[str, None] = {}
    for number, row in Rows(path):
        names.update(dict.fromkeys(names_in(row)))
        pairs = _pairs(number, row)
        if not pairs:
            bad += 1
            continue
        seen += 1
        if len(kept) < most:
            kept.append(pairs)
        else:
            place = draw.randrange(seen)
            if place < most:
                kept[place] = pairs
    if not kept:
        shown = ", ".join(repr(n[:40]) for n in list(names)[:12]) or "none"
        raise InputError(
            f"{path}: no row has prompt, chosen and rejected; the columns are {shown}.",
            "RewardBench's format is prompt, chosen, rejected and subset, one pair a line.",
        )
    kept.sort(key=lambda each: each[0].row)
    return [p for each in kept for p in each][:most], bad


def _pairs(number: int, row: Row) -> list[Pair]:
    chosen, rejected = (_texts(_value(row, ALIASES[side])) for side in ("chosen", "rejected"))
    prompt = _prompt(row)
    if not chosen or not rejected or prompt is None:
        return []
    subset = _value(row, CATEGORIES)
    name = subset if isinstance(subset, str) else ""
    pairs = [Pair(number, prompt, c, r, name) for c in chosen for r in rejected]
    return [p for p in pairs if max(len(p.prompt), len(p.chosen), len(p.rejected)) <= LONGEST]


def _value(row: Row, names: tuple[str, ...]) -> Any:
    there = {n.lower(): n for n in names_in(row)}
    found = (value_at(row, there[n]) for n in names if n in there)
    return next((value for value in found if value is not None), None)


def _prompt(row: Row) -> str | None:
    """Return the prompt; of a conversation all that was said before the reply, one line each."""
    value = _value(row, ALIASES["prompt"])
    if value is None:
        messages = _messages(_value(row, ALIASES["chosen"]))
        return "\n".join(messages[:-1]) if messages else None
    if isinstance(value, str):
        return value
    said = _messages(value)
    return None if said is None else "\n".join(m for m in said)


def _texts(value: Any) -> list[str]:
    """Return the responses of one side: a text, a list of texts, or a conversation that ends with the response."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and value:
        items = cast("list[Any]", value)
        if all(isinstance(item, str) for item in items):
            return cast("list[str]", items)[:8]
        messages = _messages(items)
        return messages[-1:] if messages else []
    return []


def _messages(value: Any) -> list[str] | None:
    """Return the texts of a conversation."""
    if not isinstance(value, list):
        return None
    found: list[str] = []
    for item in cast("list[Any]", value):
        content = cast("Mapping[str, Any]", item).get("content") if isinstance(item, dict) else None
        if not isinstance(content, str):
            return None
        found.append(content)
    return found


def read_golden(path: Path, before: Path | None = None) -> list[Golden]:
    """Return golden responses with their recorded scores, which stand in the same file or row by row in `before`.

    Raises:
        InputError: a prompt, a response or a score is missing, or the files have different numbers of rows.
    """
    rows = [row for _, row in Rows(path)]
    scores = rows if before is None else [row for _, row in Rows(before)]
    if len(scores) != len(rows):
        raise InputError(
            f"{path} has {len(rows)} rows, {before} has {len(scores)}.", "One recorded score for each row."
        )
    found: list[Golden] = []
    for number, (row, scored) in enumerate(zip(rows, scores, strict=True), 1):
        prompt, score = _prompt(row), _value(scored, SCORES)
        response = _texts(_value(row, (*ALIASES["completion"], *ALIASES["chosen"], "text")))
        if prompt is None or not response or not isinstance(score, (int, float, str)):
            raise InputError(
                f"{path}, row {number}: no prompt, response or score.", "Columns: prompt, response, score."
            )
        try:
            found.append(Golden(prompt, response[0], float(score)))
        except ValueError as error:
            raise InputError(f"{before or path}, row {number}: the score is no number.", "Columns: score.") from error
    if not found:
        raise InputError(f"{path}: no rows.", "One golden response a line: prompt, response, score.")
    return found
