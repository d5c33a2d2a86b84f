"""Which prompt does each answer fit best? Where that is another row's for many answers, they stand in another order.

An answer fits a prompt when the two share words that few others hold, half as much again as with any other prompt, and
the prompt is in turn fitted best by this answer. By accident this happens as well: how often is counted on answers
whose words were dealt out anew, each word to as many answers as hold it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .pairing import IN_PLACE, quoted

Words = Sequence[frozenset[str]]
MOST_ROWS = 3000
"""Rows compared, each with all others."""
COMMON = 0.1
"""Share of the texts from which on a word they hold tells nothing."""
SHARED = 2
"""Words that a fit needs; one may be an accident."""
MARGIN = 1.5
"""Times the second best prompt. Engineering default."""
FEWEST = 20
"""Fits elsewhere that are enough to judge. Engineering default."""
SHARE = 0.12
"""Share of the rows that must fit elsewhere. Docstrings and the bodies of other functions of Python's library give
0.06 at 1000 rows; of shuffled ones 0.18 are found, and 0.30 at 300 rows."""
TIMES = 4.0
"""Times as many as by accident: 1.3 where answers to other questions use the same few words. Engineering default."""
DEALS = 3


@dataclass(frozen=True)
class Fits:
    """How many answers fit their own prompt surely best, which fit another, and how many would by accident."""

    rows: int
    in_place: int
    elsewhere: tuple[tuple[int, int], ...]
    """(row of the prompt, row of the answer), counted from 0."""
    by_accident: int

    @property
    def out_of_order(self) -> bool:
        """Whether answers surely stand in another order than prompts."""
        away = len(self.elsewhere)
        enough = away >= max(FEWEST, SHARE * self.rows, TIMES * self.by_accident)
        return enough and self.in_place <= IN_PLACE * away


def fits(prompts: Words, answers: Words, seed: int = 0) -> Fits:
    """Fit answers to prompts by their words [rows]; of more than `MOST_ROWS` rows the first are taken."""
    prompts, answers = prompts[:MOST_ROWS], answers[:MOST_ROWS]
    found = best_fits(prompts, answers)
    away = tuple(pair for pair in found if pair[0] != pair[1] and not quoted(prompts, answers, *pair))
    random = np.random.default_rng(seed)
    dealt = [len(best_fits(prompts, dealt_anew(answers, random))) for _ in range(DEALS)] if away else [0]
    return Fits(len(prompts), sum(i == j for i, j in found), away, max(dealt))


def best_fits(prompts: Words, answers: Words) -> list[tuple[int, int]]:
    """Return (prompt, answer) of the fits; a shared word weighs log(rows / prompts that hold it); numbers are none."""
    n = len(prompts)
    if n < 2:
        return []
    score, shared = _shared(prompts, answers)
    rows = np.arange(n)
    best, back = score.argmax(axis=1), score.argmax(axis=0)
    top, count = score[rows, best], shared[rows, best]
    score[rows, best] = 0.0
    sure = (top > 0) & (count >= SHARED) & (top >= MARGIN * score.max(axis=1)) & (back[best] == rows)
    return [(int(best[j]), int(j)) for j in np.flatnonzero(sure)]


def _shared(prompts: Words, answers: Words) -> tuple[NDArray[np.float32], NDArray[np.int16]]:
    """Weight and number of the words that answer j and prompt i share [answers, prompts]."""
    n = len(prompts)
    holders: dict[str, list[int]] = {}
    for i, prompt in enumerate(prompts):
        for word in prompt:
            holders.setdefault(word, []).append(i)
    said = Counter(word for answer in answers for word in answer)
    most = max(1.0, COMMON * n)
    telling = {
        w: np.array(rows)
        for w, rows in holders.items()
        if w in said and max(len(rows), said[w]) <= most and not w[0].isdigit()
    }
    score, shared = np.zeros((n, n), np.float32), np.zeros((n, n), np.int16)
    for j, answer in enumerate(answers):
        for word in sorted(answer & telling.keys()):
            score[j, telling[word]] += math.log(n / len(telling[word]))
            shared[j, telling[word]] += 1
    return score, shared


def dealt_anew(answers: Words, random: np.random.Generator) -> list[frozenset[str]]:
    """Deal each word to as many answers as hold it, long ones more often; which words go together is lost."""
    size = np.array([len(answer) for answer in answers], dtype=np.float64)
    if not size.any():
        return list(answers)
    share = size / size.sum()
    dealt: list[set[str]] = [set() for _ in answers]
    for word, count in sorted(Counter(w for answer in answers for w in answer).items()):
        places: list[int] = random.choice(len(answers), count, replace=False, p=share).tolist()
        for j in places:
            dealt[j].add(word)
    return [frozenset(one) for one in dealt]
