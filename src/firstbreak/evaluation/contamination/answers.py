"""Answers where they should not be: in the prompt itself, or in a training row beside the same prompt."""

from __future__ import annotations

import re
from dataclasses import dataclass

FINAL = re.compile(r"(?:####|\\boxed\{|final answer(?: is)?:?|the answer is:?)\s*([^\n}]{1,200})", re.IGNORECASE)
_GIVEN = re.compile(r"(?:####|\\boxed\{|\banswer(?:\s+is)?\s*[:=]|\banswer\s+is\b|\bsolution\s*[:=])", re.IGNORECASE)
_CHOICES = re.compile(r"(?m)^\s*\(?[A-Ea-e][).:]\s")
_SPACE = re.compile(r"[\s$]+")
LONG = 24
"""Characters from which an answer does not stand in its prompt by chance. Engineering default."""
NEAR = 40
"""Characters after `answer:` within which the answer is given away."""
READ = 200_000
"""Characters of a prompt that are read."""


@dataclass(frozen=True)
class Leak:
    """A prompt that gives its own answer away."""

    row: int
    kind: str
    """`announced`: right after the word answer. `whole`: a long answer stands in the prompt."""


def plain(text: str) -> str:
    """Return `text` without case and with single spaces, at most `READ` characters."""
    return _SPACE.sub(" ", text[:READ]).strip().casefold()


def final_answer(text: str) -> str:
    """Return the last answer that `text` announces, else the text itself where it is short, else nothing."""
    found = FINAL.findall(text[-READ:])
    one = str(found[-1]) if found else text if len(text) <= LONG else ""
    return plain(one).strip(" .,*`")


def leak_of(prompt: str, answer: str) -> str:
    """Return how `prompt` gives `answer` away: announced, whole, or nothing.

    Choices of a question hold the answer by right, and so do short answers anywhere else.
    """
    final, text = final_answer(answer), prompt[:READ]
    if final:
        for mark in _GIVEN.finditer(text):
            after = plain(text[mark.end() : mark.end() + NEAR]).lstrip(" :=*`")
            if after.startswith(final) and not after[len(final) : len(final) + 1].isalnum():
                return "announced"
    whole = plain(answer)
    if len(whole) >= LONG and whole in plain(prompt) and not _CHOICES.search(text):
        return "whole"
    return ""


def carries(given: str, answer: str) -> bool:
    """Whether what a training row gives as an answer is, announces or contains the evaluation's `answer`."""
    wanted = final_answer(answer) or plain(answer)
    if not wanted or not given:
        return False
    return re.search(rf"(?<!\w){re.escape(wanted[:2000])}(?!\w)", plain(given)) is not None
