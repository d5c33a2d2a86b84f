"""Sets of hashes, one a text, held in one array; and which of them belong to a known vocabulary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .words import Counts, Hashes

TEXT_BITS = 12
MOST_TEXTS = 1 << TEXT_BITS
"""Texts in one piece: their number and a hash share 64 bits."""
_HASH_BITS = np.uint64(64 - TEXT_BITS)
HASH = np.uint64((1 << (64 - TEXT_BITS)) - 1)
"""The bits of a hash that are kept."""
_FILTER_BITS = 24


@dataclass(frozen=True)
class Sets:
    """The different hashes of each text."""

    hashes: Hashes
    """Of 52 bits, text after text, rising within a text [M]."""
    owner: Counts
    """The text of each [M]."""
    texts: int

    @property
    def sizes(self) -> Counts:
        """How many each text has [texts]."""
        return np.bincount(self.owner, minlength=self.texts)


def sets_of(hashes: Hashes, counts: Counts) -> Sets:
    """Return the different ones among the `hashes` [sum of counts] of at most `MOST_TEXTS` texts."""
    assert counts.size <= MOST_TEXTS
    owner = np.repeat(np.arange(counts.size, dtype=np.uint64), counts)
    packed = different((owner << _HASH_BITS) | (hashes & HASH))
    return Sets(packed & HASH, (packed >> _HASH_BITS).astype(np.int64), counts.size)


def different(values: Hashes) -> Hashes:
    """Return the different values, rising; faster than `numpy.unique`, which hashes them."""
    ordered = np.sort(values)
    return ordered[np.concatenate([np.ones(min(ordered.size, 1), np.bool_), ordered[1:] != ordered[:-1]])]


class Vocabulary:
    """A set of hashes that can say quickly what is not in it."""

    def __init__(self, hashes: Hashes) -> None:
        self.hashes = hashes
        """Rising, different [V]."""
        self._maybe = np.zeros(1 << _FILTER_BITS, np.bool_)
        self._maybe[self._slot(hashes)] = True

    @staticmethod
    def _slot(hashes: Hashes) -> NDArray[np.int64]:
        return (hashes & np.uint64((1 << _FILTER_BITS) - 1)).astype(np.int64)

    def places(self, hashes: Hashes) -> Counts:
        """Return the place of each hash in the vocabulary [M], -1 where it is not in it."""
        found = np.full(hashes.size, -1, np.int64)
        if not self.hashes.size:
            return found
        maybe = np.flatnonzero(self._maybe[self._slot(hashes)])
        asked = hashes[maybe]
        place = np.minimum(np.searchsorted(self.hashes, asked), self.hashes.size - 1)
        there = self.hashes[place] == asked
        found[maybe[there]] = place[there]
        return found
