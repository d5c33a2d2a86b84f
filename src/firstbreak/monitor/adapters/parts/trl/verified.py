"""What a verifier pays: a right answer always, and half of one never. Pure functions of scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Values = np.ndarray[Any, np.dtype[np.float64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]

LEAST = 3
"""Answers below which nothing is said."""


def unpaid(own: Values, other: Values) -> float | None:
    """Return the share of prompts whose own reference answer a function scores as it scores every wrong one.

    Judged are functions that know two scores: one for all answers of other prompts, and a higher one for right answers.
    Of several, the one that leaves most unpaid counts; None where no function is of that kind, or pays none at all (the
    reference may not be in the form that it reads).

    Args:
        own: Scores [P, F] of each prompt's own reference answer, one column a function.
        other: Scores [P, F] of another prompt's, which is a different one.
    """
    shares: list[float] = []
    for right, wrong in zip(own.T, other.T, strict=True):
        if len(right) < LEAST or not np.isfinite([right, wrong]).all() or np.ptp(wrong) != 0:
            continue
        paid = right > wrong[0]
        if paid.any() and np.ptp(right[paid]) == 0 and bool((right[~paid] == wrong[0]).all()):
            shares.append(float(1 - paid.mean()))
    return max(shares, default=None)


def cut(answers: Sequence[str]) -> list[str | None]:
    """Return the first half of each answer that is one word of letters and digits; None for others.

    Half of such a word is another answer: "7" is not "72". Half of a sentence, of "1.0" or of "(B) two" may still hold
    it.

    >>> cut(["72", "abc", "7", "1.0", "a word"])
    ['7', 'a', None, None, None]
    """
    return [text[: len(text) // 2] if len(text) > 1 and text.isalnum() else None for text in answers]


def cut_paid(own: Values, other: Values, halves: Values, full: float) -> dict[str, float]:
    """Return the share of prompts at which half of the right answer is paid as much as `full` of all of it.

    Args:
        own: Scores [P] of each prompt's own reference answer.
        other: Scores [P] of another prompt's.
        halves: Scores [P] of the first half of its own.
        full: The share that counts as paid.
    """
    asked = (own > other) & np.isfinite(halves)
    if asked.sum() < LEAST:
        return {}
    enough = other[asked] + full * (own - other)[asked]
    return {"reward/cut_reference_paid_frac": float((halves[asked] >= enough).mean())}
