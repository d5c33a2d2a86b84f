"""A response as a set of hashed runs of words, alike in every process."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..sample import Sample, done_by
from ..seen import GRAM, cut, grams_of, words_of

Shingles = NDArray[np.int64]
_SPREAD = 0x9E3779B97F4A7C15


def shingles_of(text: str, n: int = GRAM) -> Shingles:
    """Return the different runs of `n` words of `text`, hashed and rising [K]; of a shorter text its words."""
    words = words_of(cut(text))
    codes = np.fromiter((zlib.crc32(w.encode("utf-8", "surrogatepass")) for w in words), np.uint64, len(words))
    hashes = (codes * np.uint64(_SPREAD)).view(np.int64)
    return np.unique(grams_of(hashes, n) if len(words) >= n else hashes)


def all_shingles(samples: Sequence[Sample]) -> list[Shingles]:
    """Return the shingles of all that the model did in each sample."""
    return [shingles_of(done_by(sample)) for sample in samples]


def overlap(one: Shingles, other: Shingles) -> float:
    """Return the share of runs that two responses have in common (Jaccard 1912); 1 for two without any."""
    shared = int(np.intersect1d(one, other, assume_unique=True).size)
    union = one.size + other.size - shared
    return shared / union if union else 1.0
