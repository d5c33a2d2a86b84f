"""Near duplicates among samples: which responses are almost the same text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..sample import Sample, prompts_of
from .shingles import Shingles, all_shingles, overlap

ALIKE = 0.8
"""Overlap from which two responses are near duplicates, as in deduplication (Lee et al. 2022, arXiv 2107.06499)."""
BANDS, ROWS = 12, 4
"""Pairs of overlap 0.8 share a band with probability 0.998, of 0.4 with 0.27 (Leskovec et al. 2014, section 3.4)."""


@dataclass(frozen=True)
class NearDuplicates:
    """How many of the samples have a near duplicate."""

    samples: int
    alike_frac: float
    """Share of the samples that are a near duplicate of another."""
    across_frac: float
    """Share of the samples that are a near duplicate of an answer to another prompt."""
    largest_frac: float
    """Share of the samples that are in the largest set of near duplicates."""
    largest_prompts: int
    """Different prompts in that set."""


def near_duplicates(samples: Sequence[Sample]) -> NearDuplicates:
    """Compare the 4-word shingles of the responses by MinHash (Broder 1997) and confirm what looks alike."""
    if not samples:
        return NearDuplicates(0, 0.0, 0.0, 0.0, 0)
    cluster = clusters(all_shingles(samples))
    prompts = np.unique(prompts_of(samples), return_inverse=True)[1]
    size = np.bincount(cluster)
    pairs = np.unique(np.stack([cluster, prompts], 1), axis=0)
    spread = np.bincount(pairs[:, 0], minlength=size.size)
    n, largest = len(samples), int(np.argmax(size))
    return NearDuplicates(
        samples=n,
        alike_frac=float(size[size > 1].sum()) / n,
        across_frac=float(size[spread > 1].sum()) / n,
        largest_frac=float(size[largest]) / n if size[largest] > 1 else 0.0,
        largest_prompts=int(spread[largest]),
    )


def clusters(shingles: Sequence[Shingles]) -> NDArray[np.int64]:
    """Return the cluster of each response [n]: responses of overlap `ALIKE` with its first member share one."""
    parent = list(range(len(shingles)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    marks = signatures(shingles)
    for band in range(BANDS):
        first: dict[bytes, int] = {}
        for i, part in enumerate(marks[:, band * ROWS : (band + 1) * ROWS]):
            j = first.setdefault(part.tobytes(), i)
            a, b = root(i), root(j)
            if a != b and overlap(shingles[i], shingles[j]) >= ALIKE:
                parent[max(a, b)] = min(a, b)
    return np.unique([root(i) for i in range(len(parent))], return_inverse=True)[1].astype(np.int64)


def signatures(shingles: Sequence[Shingles], seed: int = 0) -> NDArray[np.uint64]:
    """Return the MinHash signature of each set [n, BANDS * ROWS]; empty sets share one of their own."""
    random = np.random.default_rng(seed)
    factor = random.integers(1, 1 << 63, size=(BANDS * ROWS, 1), dtype=np.uint64) | np.uint64(1)
    shift = random.integers(0, 1 << 63, size=(BANDS * ROWS, 1), dtype=np.uint64)
    found = np.zeros((len(shingles), BANDS * ROWS), np.uint64)
    for i, one in enumerate(shingles):
        if one.size:
            found[i] = (one.view(np.uint64)[None, :] * factor + shift).min(axis=1)
    return found
