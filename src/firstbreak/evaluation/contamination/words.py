"""Many texts as hashed words at once, alike in every process: numpy works on their bytes, not Python on their words.

Case, white space and punctuation do not count; the signs of arithmetic and comparison do, for `3 + 4` is not `3 - 4`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
Counts = NDArray[np.int64]

SIGNS = b"+-*/=<>^%|&~"
"""Each is a word of its own."""
LONGEST = 1 << 20
"""Characters of a text that are compared: of a longer one the first and the last half of this."""
_ALONE = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_ONE_CHARACTER = re.compile(f"([{_ALONE}])")
_NO_WORD = re.compile(r"[^\w\s" + re.escape(SIGNS.decode()) + "]")
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_INVERSE = np.uint64(pow(0x9E3779B97F4A7C15, -1, 1 << 64))


def _table() -> bytes:
    def of(byte: int) -> int:
        if byte >= 128 or byte in SIGNS or byte == 95:
            return byte
        return ord(chr(byte).lower()) if chr(byte).isalnum() else 32

    return bytes(of(b) for b in range(256))


_LOWER = _table()
_CLASS = np.array([0 if b == 32 else 2 if b in SIGNS else 1 for b in _LOWER], np.uint8)


@dataclass(frozen=True)
class Words:
    """The words of several texts."""

    hashes: Hashes
    """One a word, text after text [W]."""
    counts: Counts
    """Words of each text [N]."""

    @property
    def starts(self) -> Counts:
        """Where the words of each text begin [N]."""
        return np.cumsum(self.counts) - self.counts


def words_of(texts: Sequence[str]) -> Words:
    """Return the hashed words of `texts`."""
    parts = [_plain(text) for text in texts]
    data = b" ".join(parts) + b" "
    letters = np.frombuffer(data.translate(_LOWER), np.uint8)
    kind = _CLASS[letters]
    before = np.concatenate([np.zeros(1, np.uint8), kind[:-1]])
    first = np.flatnonzero((kind == 2) | ((kind == 1) & (before != 1)))
    last = np.flatnonzero((kind == 2) | ((kind == 1) & (np.append(kind[1:], 0) != 1)))
    lengths = np.fromiter(map(len, parts), np.int64, len(parts)) + 1
    edges = np.concatenate([[0], np.cumsum(lengths)])
    hashes = mixed(_sums(letters, first, last + 1))
    return Words(hashes, np.diff(np.searchsorted(first, edges)))


def _plain(text: str) -> bytes:
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]} {text[-LONGEST // 2 :]}"
    if text.isascii():
        return text.encode("ascii")
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _ONE_CHARACTER.sub(r" \1 ", _NO_WORD.sub(" ", folded)).encode("utf-8", "surrogatepass")


def _sums(values: NDArray[np.uint8] | Hashes, first: Counts, end: Counts) -> Hashes:
    """Return the polynomial hash of each stretch [first, end) of `values`, the same wherever the stretch lies.

    A running sum of value * factor^place, differenced, divided by factor^first; all modulo 2^64 (Karp and Rabin 1987).
    """
    size = _step(values.size)
    power, back = _powers(size, int(_FACTOR)), _powers(size, int(_INVERSE))
    total = np.concatenate([np.zeros(1, np.uint64), np.cumsum((values + np.uint64(1)) * power[: values.size])])
    return (total[end] - total[first]) * back[first]


def _step(size: int) -> int:
    return 1 << max(size, 1).bit_length()


@lru_cache(maxsize=6)
def _powers(size: int, factor: int) -> Hashes:
    steps = np.full(size, factor, np.uint64)
    steps[0] = 1
    return np.cumprod(steps)


def mixed(values: Hashes) -> Hashes:
    """Spread the information of each value over all 64 bits (the finaliser of SplitMix64; Steele et al. 2014)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def grams(words: Words, n: int) -> tuple[Hashes, Counts]:
    """Return a hash of each run of `n` words, and how many each text has [N]; shorter texts have none."""
    counts = np.maximum(words.counts - n + 1, 0)
    first = _places(words.starts, counts)
    return mixed(_sums(words.hashes, first, first + n)), counts


def whole(words: Words) -> Hashes:
    """Return a hash of all words of each text in their order [N]."""
    starts = words.starts
    return mixed(_sums(words.hashes, starts, starts + words.counts) + words.counts.astype(np.uint64))


def shingles(words: Words, n: int) -> tuple[Hashes, Counts]:
    """Return the runs of `n` words of each text; of a shorter text all of it as one run."""
    counts = np.where(words.counts > 0, np.maximum(words.counts - n + 1, 1), 0)
    first = _places(words.starts, counts)
    length = np.repeat(np.minimum(words.counts, n), counts)
    return mixed(_sums(words.hashes, first, first + length)), counts


def _places(starts: Counts, counts: Counts) -> Counts:
    """Return starts[0], starts[0] + 1, ... for counts[0] places, then from starts[1] on, and so forth."""
    before = np.cumsum(counts) - counts
    return np.arange(int(counts.sum())) - np.repeat(before, counts) + np.repeat(starts, counts)
