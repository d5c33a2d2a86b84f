"""A sample as the measures see it: the texts cut to a bearable length, and the words that all of them share."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .characters import Codes, code_points
from .sample import Sample

Hashes = NDArray[np.int64]

LONGEST = 65_536
"""Characters of a text that the measures read: of a longer one the first and the last half of this. Engineering
default: 16,000 tokens, beyond what most trainers sample."""
GRAM = 4
"""Words of an n-gram, as in Welleck et al. 2019 (arXiv 1908.04319, section 4, seq-rep-4)."""
_ALONE = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_ALONE}]|[^\W{_ALONE}]+")
"""A run of letters and digits; in scripts written without spaces each character counts as a word."""
_ASCII_WORDS = bytes(ord(chr(b).lower()) if b < 128 and (chr(b).isalnum() or b == 95) else 32 for b in range(256))
"""Letters in lower case, digits and the underscore; everything else becomes a space."""
_MIX = np.array([1, 0x9E3779B97F4A7C15, 0xE3779B97F4A7C159, 0xD6E8FEB86659FD93], np.uint64).view(np.int64)
"""Odd multipliers that tell the places within an n-gram apart; the hashes themselves are even over 64 bits."""


class Seen:
    """One sample and what several measures need of its response. The n-grams are those of `text`, cut at `LONGEST`."""

    __slots__ = ("ascii", "asked", "codes", "data", "distinct", "grams", "hashes", "low", "sample", "text", "words")

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.text: str = cut(sample.response)
        self.ascii: bool = self.text.isascii()
        self.data: bytes = self.text.encode("utf-8", "surrogatepass")
        self.codes: tuple[Codes, NDArray[np.int64]] | None = None if self.ascii else code_points(self.text)
        """Different code points and how often each occurs; None where the text is all ASCII."""
        self.low: str = self.text.lower()
        self.words: list[str] = _ascii_words(self.data) if self.ascii else words_of(self.text)
        self.distinct: set[str] = set(self.words)
        self.hashes: Hashes = hashes_of(self.words)
        self.grams: Hashes = grams_of(self.hashes)
        self.asked: Asked = asked(cut(sample.prompt))


class Asked:
    """A prompt and what measures need of it; shared by all samples of a group."""

    __slots__ = ("ascii", "data", "grams", "known", "low", "text", "words")

    def __init__(self, text: str) -> None:
        self.text = text
        self.ascii = text.isascii()
        self.data = text.encode("utf-8", "surrogatepass")
        self.low = text.lower()
        self.words = words_of(self.text)
        self.grams: Hashes = np.unique(grams_of(hashes_of(self.words)))
        self.known: dict[str, object] = {}
        """Where a measure may keep what it found out about the prompt, under its own name."""


@lru_cache(maxsize=128)
def asked(text: str) -> Asked:
    """Return `text` as the measures see it; the last prompts are kept, for groups share theirs."""
    return Asked(text)


def cut(text: str) -> str:
    """Return `text`, or its two ends where it is longer than `LONGEST`."""
    return text if len(text) <= LONGEST else text[: LONGEST // 2] + "\n" + text[-LONGEST // 2 :]


def words_of(text: str) -> list[str]:
    """Return the words of a text, in lower case."""
    return _ascii_words(text.encode("ascii")) if text.isascii() else _WORD.findall(text.lower())


def _ascii_words(data: bytes) -> list[str]:
    return data.translate(_ASCII_WORDS).decode("ascii").split()


def hashes_of(words: list[str]) -> Hashes:
    """Return a hash of each word [W]; it holds within one process."""
    return np.fromiter(map(hash, words), np.int64, len(words))


def grams_of(hashes: Hashes, n: int = GRAM) -> Hashes:
    """Return a hash of each run of `n` words, at most 4 [max(W - n + 1, 0)]."""
    if hashes.size < n:
        return np.zeros(0, np.int64)
    return np.convolve(hashes, _MIX[:n], "valid")
