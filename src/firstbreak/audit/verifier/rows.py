"""The questions a verifier is tried on: from a file, or built in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from ...errors import InputError
from ...preflight.data.fields import ALIASES, names_in, value_at
from ...preflight.data.reading import Row, Rows
from .kinds import kind_of

MOST_ROWS = 24
"""Rows tried unless asked otherwise. Engineering default: some 1,500 calls, seconds for a rule, minutes for a judge."""
LONGEST_PROMPT = 20_000
"""Characters; longer prompts are left out, since every one is sent with each of some sixty responses."""

PROMPTS = (*ALIASES["prompt"], "messages")
ANSWERS = (*ALIASES["answer"], "label", "answers", "tests", "test")
GOOD = ("good", "good_response", "good_responses", "right", "correct", "correct_responses", "chosen")
BAD = ("bad", "bad_response", "bad_responses", "wrong", "incorrect", "incorrect_responses", "rejected")


@dataclass(frozen=True)
class Question:
    """One row: prompt, reference answer, responses known to be right or wrong, and the row's other columns."""

    prompt: str
    answer: str
    kind: str
    good: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()
    columns: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def said(self) -> str:
        """The answer as a response would give it: of a worked solution, what stands after #### or in its last box."""
        return final_of(self.answer)

    def plain(self) -> dict[str, Any]:
        """Return it as plain data, to cross a process boundary."""
        return {**asdict(self), "columns": dict(self.columns)}


def final_of(answer: str) -> str:
    """Return the final answer of a reference: itself, or what a worked solution ends in (GSM8K, MATH)."""
    end = answer.rpartition("####")
    if end[1] and end[2].strip() and "\n" not in end[2].strip():
        return end[2].strip()
    boxes = re.findall(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}", answer)
    return boxes[-1].strip() if boxes else answer


def question(data: Mapping[str, Any]) -> Question:
    """Return the `Question` that `Question.plain` turned into plain data."""
    good, bad = tuple(data["good"]), tuple(data["bad"])
    return Question(data["prompt"], data["answer"], data["kind"], good, bad, data["columns"])


def read_questions(path: Path, most: int = MOST_ROWS) -> list[Question]:
    """Read the first `most` usable rows of a JSONL, CSV or Parquet file.

    Raises:
        InputError: no row has a prompt and an answer.
        UnreadableError: there is no such file.
    """
    found: list[Question] = []
    names: dict[str, None] = {}
    for _, row in Rows(path):
        names.update(dict.fromkeys(names_in(row)))
        one = _question(row)
        if one is not None:
            found.append(one)
        if len(found) >= most:
            return found
    if not found:
        shown = ", ".join(repr(n[:40]) for n in list(names)[:12]) or "none"
        raise InputError(
            f"{path}: no row has a prompt and an answer; the columns are {shown}.",
            f"Name the columns prompt and answer (known too: {', '.join(ANSWERS[:6])}).",
        )
    return found


def _question(row: Row) -> Question | None:
    prompt, answer = _first(row, PROMPTS), _first(row, ANSWERS)
    if prompt is None or answer is None:
        return None
    text, right = _said(row[prompt] if prompt in row else value_at(row, prompt)), value_at(row, answer)
    if isinstance(right, (list, tuple)):
        right = cast("Any", right)[0] if right else None
    if text is None or not isinstance(right, (str, int, float)) or len(text) > LONGEST_PROMPT:
        return None
    answer_text = str(right)
    good, bad = (_texts(row, names) for names in (GOOD, BAD))
    return Question(text, answer_text, kind_of(final_of(answer_text)), good, bad, dict(row))


def _first(row: Row, names: tuple[str, ...]) -> str | None:
    there = {n.lower(): n for n in names_in(row)}
    return next((there[n] for n in names if n in there and value_at(row, there[n]) is not None), None)


def _said(value: Any) -> str | None:
    """Return the text of a prompt; of a conversation, the last message of the user."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        messages = [cast("dict[str, Any]", m) for m in cast("list[Any]", value) if isinstance(m, dict)]
        said = [m.get("content") for m in messages]
        return next((s for s in reversed(said) if isinstance(s, str)), None)
    return None


def _texts(row: Row, names: tuple[str, ...]) -> tuple[str, ...]:
    name = _first(row, names)
    value = None if name is None else value_at(row, name)
    values = cast("list[Any]", value) if isinstance(value, list) else [value]
    return tuple(v for v in values if isinstance(v, str))[:8]
