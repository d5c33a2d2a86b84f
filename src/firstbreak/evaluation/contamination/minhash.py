"""MinHash signatures and bands that bring similar sets together (Broder 1997; Leskovec et al. 2014, section 3.4)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .sets import Sets
from .words import Counts, Hashes, mixed

ROWS = 4
"""Hashes a band."""
MISSED = 0.001
"""Pairs just at the threshold that no band brings together."""


@dataclass(frozen=True)
class Bands:
    """A family of hash functions, cut into bands."""

    bands: int
    seed: int = 0

    def keys(self, sets: Sets, chosen: Counts) -> Hashes:
        """Return one key a band and chosen text [texts, bands]; equal keys mean equal minima in that band.

        Args:
            sets: The sets of a piece.
            chosen: Numbers of the texts, rising, none of them empty [texts].
        """
        inside = np.isin(sets.owner, chosen)
        hashes, owner = sets.hashes[inside], sets.owner[inside]
        starts = np.searchsorted(owner, chosen)
        random = np.random.default_rng(self.seed)
        keys = np.zeros((chosen.size, self.bands), np.uint64)
        for band in range(self.bands):
            for row in range(ROWS):
                factor = np.uint64(random.integers(1, 1 << 63, dtype=np.uint64) * 2 + 1)
                least = np.minimum.reduceat(hashes * factor, starts)
                keys[:, band] = mixed(keys[:, band] + least + np.uint64(row))
        return keys


def bands_for(threshold: float) -> int:
    """Return the number of bands with which a pair just at `threshold` is missed once in a thousand times."""
    return math.ceil(math.log(MISSED) / math.log1p(-(threshold**ROWS)))
