"""Do answers fit prompts of rows far away? Words that one prompt and one answer of the file alone hold tie the two.

One such word may be an accident. Where several words name the same prompt and the same answer, the two speak of one
thing; where they do so for many rows, and for next to none in place, the answers stand in another order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from .quoting import HISTORY, LONG, WHOLE

WORDS = 2
"""Words held by nobody else that tie a prompt to an answer."""
FEWEST = 10
"""Tied rows that are enough to judge. Engineering default."""
SHARE = 0.02
"""Share of the rows that must be tied: six times what answers to other questions about the same libraries gave."""
IN_PLACE = 0.05
"""Most ties in place to one elsewhere: where answers stand by their prompts it is the other way round."""


@dataclass(frozen=True)
class Ties:
    """Rows whose answer is tied to one prompt: their own, or that of another row."""

    rows: int
    in_place: int
    elsewhere: tuple[tuple[int, int], ...]
    """(row of the prompt, row of the answer), counted from 0, the most words first."""

    @property
    def out_of_order(self) -> bool:
        """Whether answers surely stand in another order than prompts."""
        away = len(self.elsewhere)
        return away >= max(FEWEST, SHARE * self.rows) and self.in_place <= IN_PLACE * away


def ties(prompts: Sequence[frozenset[str]], answers: Sequence[frozenset[str]]) -> Ties:
    """Tie answers to prompts by the words [rows] that one of each alone holds; numbers are no words here.

    A prompt that holds a whole answer, and the answer's prompt where it is short, quotes it, which ties nothing.
    """
    asked, said = _only(prompts), _only(answers)
    shared = Counter((asked[word], said[word]) for word in asked.keys() & said.keys() if not word[0].isdigit())
    strong = [(pair, n) for pair, n in shared.items() if n >= WORDS and not quoted(prompts, answers, *pair)]
    away = sorted((pair for pair, _ in strong if pair[0] != pair[1]), key=lambda pair: (-shared[pair], pair))
    return Ties(len(prompts), len(strong) - len(away), tuple(away))


def _only(texts: Sequence[frozenset[str]]) -> dict[str, int]:
    """Return the words that one text alone holds, with its row."""
    held = Counter(word for text in texts for word in text)
    return {word: row for row, text in enumerate(texts) for word in text if held[word] == 1}


def quoted(prompts: Sequence[frozenset[str]], answers: Sequence[frozenset[str]], i: int, j: int) -> bool:
    """Whether prompt i quotes row j, as turns of a conversation and worked examples do."""
    if i == j or len(answers[j] & prompts[i]) < WHOLE * len(answers[j]):
        return False
    return len(answers[j]) >= LONG or len(prompts[j] & prompts[i]) >= HISTORY * len(prompts[j])
