"""Texts that stop inside a word: the mark of a cut that needs no text of another length to be seen."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from .text import Text

WORD = re.compile(r"[^\W\d_]+")
MOST_TEXTS = 2000
"""Texts whose words make the vocabulary; enough to know the words of a data set, few enough for a second."""
SHARE = 0.15
"""Share of texts that end in a part of a word. Engineering default: of 143 paragraphs of our own pages cut at 100
or 140 characters 0.52 and 0.46 do, of those that end after a whole word in mid-sentence 0.05, of whole ones none."""
COUNT = 10
CLOSED = 0.9
"""Share of texts that end as a sentence or a form does, from which on they are taken for whole."""
ENDINGS = tuple(".!?:;)]}>\"'`»”’。！？…=")


@dataclass(frozen=True)
class Ends:
    """How `texts` texts end, `different` of them: `torn` in a part of a word, `closed` as a whole text does."""

    texts: int
    torn: int
    closed: int
    different: int

    @property
    def cut(self) -> bool:
        """Whether so many are torn that something cut them."""
        return self.torn >= max(COUNT, SHARE * self.texts)

    @property
    def whole(self) -> bool:
        """Whether nearly all end as whole texts do, or there are so few different ones that they were written so."""
        return self.closed >= CLOSED * self.texts or self.different < COUNT


def ends_of(texts: Sequence[Text], among: Sequence[Text]) -> Ends:
    """Return how `texts` end; what is a word is known from the inner words of `among`.

    A text is torn when its last characters are letters that are no word of the others but begin a longer one.
    """
    words = sorted({word for text in among[:MOST_TEXTS] for word in _inner(text.kept)})
    known = set(words)
    torn = sum(_torn(text.end, words, known) for text in texts)
    common = _common_end(texts)
    closed = sum(text.end.rstrip().endswith(ENDINGS) or text.end.endswith(common) for text in texts)
    return Ends(len(texts), torn, closed, len({text.exact for text in texts}))


def _inner(text: str) -> list[str]:
    """The words of `text` but the last, which may be a part of one."""
    return [word.casefold() for word in WORD.findall(text)[:-1]]


def _torn(end: str, words: Sequence[str], known: set[str]) -> bool:
    last = re.search(r"[^\W\d_]+\Z", end)
    if last is None:
        return False
    part = last.group().casefold()
    place = bisect_right(words, part)
    return part not in known and place < len(words) and words[place].startswith(part)


def _common_end(texts: Sequence[Text]) -> tuple[str, ...]:
    """The last four characters that nearly all texts share, as a form's do; empty where there are none."""
    end, count = Counter(text.end[-4:] for text in texts).most_common(1)[0]
    return (end,) if count >= CLOSED * len(texts) else ()
