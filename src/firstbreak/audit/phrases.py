"""Counting many fixed phrases in a text quickly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_WORD = re.compile(r"[a-z]+")


@dataclass(frozen=True)
class Phrases:
    """Phrases in lower case, each from the beginning of a word on.

    One of ASCII is looked for only where the text holds its key as a word: its longest word but the last.
    """

    every: Sequence[str]
    keyed: dict[str, tuple[str, ...]] = field(init=False, default_factory=dict[str, tuple[str, ...]])
    whole: list[str] = field(init=False, default_factory=list[str])
    """Phrases without such a word: looked for in every text."""
    foreign: list[str] = field(init=False, default_factory=list[str])
    """Phrases beyond ASCII: looked for where a text is not all ASCII."""

    def __post_init__(self) -> None:
        for phrase in self.every:
            if not phrase.isascii():
                self.foreign.append(phrase)
                continue
            inner = [w for w in _WORD.findall(phrase) if _stands_alone(phrase, w)]
            if inner:
                key = max(inner, key=len)
                self.keyed[key] = (*self.keyed.get(key, ()), phrase)
            else:
                self.whole.append(phrase)

    def count(self, low: str, words: set[str]) -> int:
        """Return how often the phrases occur in a text in lower case, of which `words` are the different words."""
        found = 0
        for phrase in self.whole:
            found += low.count(phrase)
        for key in self.keyed.keys() & words:
            for phrase in self.keyed[key]:
                found += low.count(phrase)
        if self.foreign and not low.isascii():
            found += sum(map(low.count, self.foreign))
        return found

    def any(self, low: str, words: set[str]) -> bool:
        """Whether one of the phrases occurs."""
        for phrase in self.whole:
            if phrase in low:
                return True
        for key in self.keyed.keys() & words:
            for phrase in self.keyed[key]:
                if phrase in low:
                    return True
        return bool(self.foreign) and not low.isascii() and any(phrase in low for phrase in self.foreign)


def _stands_alone(phrase: str, word: str) -> bool:
    """Whether `word` is whole wherever the phrase is found at the beginning of a word: its last may be lengthened."""
    start = phrase.find(word)
    end = start + len(word)
    before = phrase[start - 1] if start else " "
    return end < len(phrase) and not (_in_word(before) or _in_word(phrase[end]))


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"
