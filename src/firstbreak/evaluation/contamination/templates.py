"""Words that belong to a template, not to a prompt: so many different prompts share them that they tell nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .sets import HASH, Sets, Vocabulary
from .words import Counts, Hashes

EDGE, STRETCH = 2, 8
"""Dull runs on end that make a template, where a text begins or ends and in its middle; fewer are a common phrase and
stay. Engineering defaults: four and ten words with runs of three."""


def dull_runs(prints: Hashes, runs: Sequence[Sets], train_prints: Hashes, train_runs: Sequence[Sets]) -> Hashes:
    """Return the runs that so many different prompts share that they must belong to a template.

    Of n different evaluation prompts more than max(0.5 %, the least of 10 and a fifth); of n sampled training prompts
    more than max(1 %, 20). Engineering defaults: a passage with ten questions to it stays.

    Args:
        prints: Fingerprints of the evaluation prompts [E].
        runs: Their runs.
        train_prints: Fingerprints of some training prompts.
        train_runs: Their runs.
    """
    different = int(np.unique(prints).size)
    here = max(2, min(10, different // 5), different // 200)
    there = max(20, int(np.unique(train_prints).size) // 100)
    return np.union1d(_frequent(runs, prints, here), _frequent(train_runs, train_prints, there))


def _frequent(sets: Sequence[Sets], prints: Hashes, most: int) -> Hashes:
    """Return the hashes that more than `most` different texts hold."""
    first = np.zeros(prints.size, np.bool_)
    first[np.unique(prints, return_index=True)[1]] = True
    parts: list[Hashes] = [np.zeros(0, np.uint64)]
    start = 0
    for one in sets:
        parts.append(one.hashes[first[start + one.owner]])
        start += one.texts
    found, times = np.unique(np.concatenate(parts), return_counts=True)
    return found[times > most]


@dataclass(frozen=True)
class Runs:
    """All runs of several texts in their order, the same ones again where they occur again."""

    hashes: Hashes
    counts: Counts
    length: int
    """Words of a run."""

    def without(self, dull: Vocabulary) -> Runs:
        """Return the runs that share no word with a template, which is a long stretch of dull runs."""
        if not dull.hashes.size or not self.hashes.size:
            return self
        gone = dull.places(self.hashes & HASH) >= 0
        if not gone.any():
            return self
        kept = ~self._inside(gone)
        owner = np.repeat(np.arange(self.counts.size), self.counts)
        return Runs(self.hashes[kept], np.bincount(owner[kept], minlength=self.counts.size), self.length)

    def _inside(self, gone: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Mark the runs that share a word with a long stretch of `gone` ones of their text."""
        ends = np.cumsum(self.counts)
        first = np.zeros(gone.size + 1, np.bool_)
        first[(ends - self.counts)[self.counts > 0]] = True
        before = np.concatenate([[False], gone[:-1]])
        after = np.concatenate([gone[1:], [False]])
        start = np.flatnonzero(gone & (~before | first[:-1]))
        end = np.flatnonzero(gone & (~after | np.concatenate([first[1:-1], [True]]))) + 1
        text = np.searchsorted(ends, start, "right")
        edge = (start == (ends - self.counts)[text]) | (end == ends[text])
        long = end - start >= np.where(edge, EDGE, STRETCH)
        start, end, text = start[long], end[long], text[long]
        change = np.zeros(gone.size + 1, np.int64)
        np.add.at(change, np.maximum(start - self.length + 1, (ends - self.counts)[text]), 1)
        np.add.at(change, np.minimum(end + self.length - 1, ends[text]), -1)
        return np.cumsum(change[:-1]) > 0
