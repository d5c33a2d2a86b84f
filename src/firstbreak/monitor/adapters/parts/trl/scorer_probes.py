"""What a scorer owes to a right answer, to one nearly right, to none at all, and to one of another prompt.

All follow from what a reference answer is: its score does not move while training goes on; turned round, doubled
or begun otherwise it is another answer; and at another prompt it is a wrong one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from .verified import LEAST, Flags, Values

Rows = Sequence[Mapping[str, Any]]
Score = Callable[[Rows, Sequence[str]], Values]
"""Weighted sums [N] of the scores of answers as responses to the prompts of rows."""

STANDING, ALTERED = "reward/standing_mean", "reward/altered_reference_paid_frac"
REUSED = "reward/verdict_reused_frac"
NOTHING, QUESTION = "reward/no_answer_paid_frac", "reward/question_paid_frac"
NO_ANSWERS = ("", "?", "...")
"""Responses that hold no answer of letters or digits."""
HALF = 0.5
"""Share of what a right answer earns above a wrong one that no response without any answer may earn. Engineering
default: a scorer that pays in part may pay a trifle for silence."""
MOST = 0.9
"""Share of the prompts that must show it where several are put together. Engineering default."""
KEPT = 16
"""Reference answers that are scored again and again, at most."""
LONGEST = 8
"""Characters of an answer up to which another first one is another answer to a scorer that pays in part as well."""
KINDS = ("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789")


class ScorerProbes:
    """Puts altered answers to a scorer.

    Args:
        score: The reward functions of the trainer.
        full: Share of what a right answer earns above a wrong one that counts as paid in full.
    """

    def __init__(self, score: Score, full: float) -> None:
        self._score, self._full = score, full
        self._standing: tuple[list[Mapping[str, Any]], list[str]] | None = None

    def standing(self, rows: Rows, answers: Sequence[str]) -> dict[str, float]:
        """Return the mean score of the reference answers of the first look."""
        if self._standing is None:
            self._standing = list(rows[:KEPT]), list(answers[:KEPT])
        scores = self._score(*self._standing)
        return {STANDING: float(scores.mean())} if len(scores) and np.isfinite(scores).all() else {}

    def altered(self, rows: Rows, answers: Sequence[str], own: Values, other: Values) -> dict[str, float]:
        """Return at how many prompts an answer that was altered is paid, of the way of altering that pays best.

        Args:
            rows: Of each prompt.
            answers: Its own reference answer.
            own: Scores [P] of those.
            other: Scores [P] of other prompts' answers.
        """
        shares: list[float] = []
        for texts in ways(answers):
            some = [i for i, text in enumerate(texts) if text is not None and own[i] > other[i]]
            if len(some) < LEAST:
                continue
            scores = self._score([rows[i] for i in some], [str(texts[i]) for i in some])
            shares.append(float((scores >= other[some] + self._full * (own - other)[some]).mean()))
        return {ALTERED: max(shares)} if shares else {}

    def reused(self, rows: Rows, answers: Sequence[str], own: Values, other: Values, differ: Flags) -> dict[str, float]:
        """Return at how many prompts the next one's answer earns what it earns there.

        Asked are answers that earn more than they do with another first character: then the scorer tells texts apart.

        Args:
            rows: Of each prompt.
            answers: Its own reference answer.
            own: Scores [P] of those.
            other: Scores [P] of the next prompt's answer, the first one's for the last.
            differ: [P], where the two answers are not the same.
        """
        texts = begun_otherwise(answers)
        some = [i for i, text in enumerate(texts) if text is not None and text not in answers]
        if len(some) < LEAST:
            return {}
        wrong = self._score([rows[i] for i in some], [str(texts[i]) for i in some])
        tells = np.zeros(len(answers), bool)
        tells[some] = wrong < own[some]
        asked = differ & np.roll(tells, -1)
        if asked.sum() < LEAST:
            return {}
        return {REUSED: float((other >= np.roll(own, -1))[asked].mean())}

    def nothing(self, rows: Rows, answers: Sequence[str], own: Values, other: Values) -> dict[str, float]:
        """Return at how many prompts a response without any answer is paid, of those that are paid best.

        Args:
            rows: Of each prompt.
            answers: Its own reference answer.
            own: Scores [P] of those.
            other: Scores [P] of other prompts' answers.
        """
        some = [i for i, text in enumerate(answers) if text.isalnum() and own[i] > other[i]]
        if len(some) < LEAST:
            return {}
        enough = other[some] + HALF * (own - other)[some]
        shares = [self._score([rows[i] for i in some], [text] * len(some)) >= enough for text in NO_ANSWERS]
        return {NOTHING: max(float(share.mean()) for share in shares)}

    def question(self, rows: Rows, answers: Sequence[str], own: Values, other: Values) -> dict[str, float]:
        """Return at how many prompts the question itself is paid, where no reference answer is.

        Asked is only where the scorer tells the own question from another prompt's: one that likes its form does not.

        Args:
            rows: Of each prompt.
            answers: Its own reference answer.
            own: Scores [P] of those.
            other: Scores [P] of other prompts' answers.
        """
        found = [0.0]
        if not np.isfinite([own, other]).all() or float((own > other).mean()) > 1 - MOST:
            return {}
        for texts in questions(rows):
            some = [i for i, text in enumerate(texts) if text and text != answers[i]]
            if len(some) < LEAST:
                continue
            asked = [rows[i] for i in some]
            mine = self._score(asked, [texts[i] for i in some])
            turned = self._score(asked, [texts[i] for i in some[1:] + some[:1]])
            found.append(float(((mine > own[some]) & (mine > turned)).mean()))
        return {QUESTION: max(found)} if len(found) > 1 else {}


def questions(rows: Rows) -> list[list[str]]:
    """Return the text of each prompt, and that text without what is neither letter nor digit at its ends."""
    texts = [_text(row.get("prompt")) for row in rows]
    cores = [text.strip("".join({c for c in text if not c.isalnum()}) or " ") for text in texts]
    return [texts, cores]


def _text(prompt: Any) -> str:
    """Return a prompt of plain text, or the last message of one of several."""
    if isinstance(prompt, list) and prompt and isinstance(prompt[-1], Mapping):
        prompt = cast("Mapping[str, Any]", prompt[-1]).get("content")
    return prompt if isinstance(prompt, str) else ""


def ways(answers: Sequence[str]) -> list[list[str | None]]:
    """Return answers turned round, doubled, and with another first character; None where that may be right as well."""
    words = [text if text.isalnum() and text.isascii() else None for text in answers]
    # Letters in alphabetical order may be a choice of several, whose order says nothing.
    choices = all(text is None or not text.isalpha() or list(text) == sorted(set(text)) for text in words)
    turned = [_turned(text) if text and not (choices and text.isalpha()) else None for text in words]
    doubled = [text * 2 if text and len(set(text)) > 1 else None for text in words]
    return [turned, doubled, begun_otherwise(answers)]


def _turned(text: str) -> str | None:
    """Return `text` the other way round, or its first character last where that is the same; None where both are."""
    return next((other for other in (text[::-1], text[1:] + text[:1]) if other != text), None)


def begun_otherwise(answers: Sequence[str]) -> list[str | None]:
    """Return each short word with the next letter or digit in its first place; None for other texts.

    >>> begun_otherwise(["abc", "9", "a word", ""])
    ['bbc', '0', None, None]
    """
    found: list[str | None] = []
    for text in answers:
        kind = next((kind for kind in KINDS if text[:1] and text[0] in kind), "")
        whole = bool(kind) and text.isalnum() and len(text) <= LONGEST
        found.append(kind[(kind.index(text[0]) + 1) % len(kind)] + text[1:] if whole else None)
    return found
