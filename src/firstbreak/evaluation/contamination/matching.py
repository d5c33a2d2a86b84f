"""Compares one piece of the training data with the index: whole prompts, near duplicates, shared runs of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...series import Floats
from .index import Index
from .sets import Sets, Vocabulary, sets_of
from .templates import Runs
from .words import Counts, Words, grams, shingles, whole, words_of

CROWD = 512
"""Evaluation prompts with one key in a band that are looked at; more of them are a family of one template."""
FEWEST = 5
"""Runs of words, those of templates left out, that an evaluation prompt must have to be compared nearly: chance makes
shorter ones alike. Engineering default."""
CANDIDATES = 64
"""Evaluation prompts that one training prompt is compared with in full: those that most bands bring to it."""


@dataclass(frozen=True)
class Hits:
    """What of a piece was found; texts are numbered within the piece."""

    same_text: Counts
    """Training texts whose words are all those of an evaluation prompt [H]."""
    same_row: Counts
    """The evaluation row of each [H]."""
    near_text: Counts
    near_row: Counts
    near_overlap: Floats
    gram_text: Counts
    """A training text that holds the run."""
    gram_place: Counts
    """The run, by its place among those of the index."""
    crowded: int
    """Training texts with more candidates than were compared."""


class Matcher:
    """Compares pieces with one index."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self._runs, self._dull, self._grams = (Vocabulary(v) for v in (index.runs, index.dull, index.grams))
        self._bands = index.bands

    def match(self, texts: Sequence[str]) -> Hits:
        """Return what of `texts` [N <= 4096] is in the index."""
        words = words_of(texts)
        same_text, same_row = self._same(words)
        near, crowded = self._near(words)
        gram_text, gram_place = self._shared(words)
        return Hits(same_text, same_row, *near, gram_text, gram_place, crowded)

    def _same(self, words: Words) -> tuple[Counts, Counts]:
        prints = whole(words)
        left = np.searchsorted(self.index.whole, prints, "left")
        right = np.where(words.counts > 0, np.searchsorted(self.index.whole, prints, "right"), left)
        text, place = _spread(left, right)
        return text, self.index.whole_row[place]

    def _shared(self, words: Words) -> tuple[Counts, Counts]:
        hashes, counts = grams(words, self.index.gram)
        found = sets_of(hashes, counts)
        place = self._grams.places(found.hashes)
        there = place >= 0
        return found.owner[there], place[there]

    def _near(self, words: Words) -> tuple[tuple[Counts, Counts, Floats], int]:
        runs = Runs(*shingles(words, self.index.shingle), self.index.shingle).without(self._dull)
        sets = sets_of(runs.hashes, runs.counts)
        place = self._runs.places(sets.hashes)
        sizes = sets.sizes
        known = np.bincount(sets.owner[place >= 0], minlength=sets.texts)
        chosen = np.flatnonzero((known > 0) & (known >= self.index.threshold * sizes))
        empty = np.zeros(0, np.int64)
        if not chosen.size:
            return (empty, empty, np.zeros(0)), 0
        text, row, crowded = self._candidates(sets, chosen)
        overlap = self._overlap(sets, place, sizes, text, row)
        near = (overlap >= self.index.threshold) & (self.index.sizes[row] >= FEWEST)
        return (text[near], row[near], overlap[near]), crowded

    def _candidates(self, sets: Sets, chosen: Counts) -> tuple[Counts, Counts, int]:
        """Return the pairs (text, evaluation row) that share a band, and how many texts had too many."""
        keys = self._bands.keys(sets, chosen)
        parts: list[Counts] = []
        crowd = np.zeros(chosen.size, np.bool_)
        for band in range(keys.shape[1]):
            known = self.index.keys[band]
            left = np.searchsorted(known, keys[:, band], "left")
            right = np.searchsorted(known, keys[:, band], "right")
            crowd |= right - left > CROWD
            text, place = _spread(left, np.minimum(right, left + CROWD))
            parts.append(chosen[text] * self.index.prompts + self.index.key_row[band][place])
        pair, bands = _tally(np.concatenate(parts))
        text, row = np.divmod(pair, self.index.prompts)
        first = _most(text, bands)
        crowd |= np.isin(chosen, text[~first])
        return text[first], row[first], int(crowd.sum())

    def _overlap(self, sets: Sets, place: Counts, sizes: Counts, text: Counts, row: Counts) -> Floats:
        """Return the Jaccard overlap of each pair, counted in full."""
        there = place >= 0
        known, owner = place[there], sets.owner[there]
        starts = np.searchsorted(owner, np.arange(sets.texts + 1))
        pair, where = _spread(starts[text], starts[text + 1])
        asked = row[pair] * self.index.runs.size + known[where]
        found = np.minimum(np.searchsorted(self.index.pairs, asked), self.index.pairs.size - 1)
        shared = np.bincount(pair[self.index.pairs[found] == asked], minlength=text.size)
        return shared / (sizes[text] + self.index.sizes[row] - shared)


def _spread(left: Counts, right: Counts) -> tuple[Counts, Counts]:
    """Return (i, place) for every place in [left[i], right[i])."""
    counts = right - left
    owner = np.repeat(np.arange(left.size), counts)
    before = np.cumsum(counts) - counts
    return owner, np.arange(int(counts.sum())) - np.repeat(before - left, counts)


def _tally(values: Counts) -> tuple[Counts, Counts]:
    """Return the different values, rising, and how often each occurs."""
    ordered = np.sort(values)
    if not ordered.size:
        return ordered, ordered
    edges = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1], [True]]))
    return ordered[edges[:-1]], np.diff(edges)


def _most(text: Counts, bands: Counts) -> NDArray[np.bool_]:
    """Mark for each text the `CANDIDATES` pairs with the most bands."""
    order = np.lexsort((-bands, text))
    ordered = text[order]
    starts = np.searchsorted(ordered, ordered, "left")
    kept = np.zeros(text.size, np.bool_)
    kept[order[np.arange(text.size) - starts < CANDIDATES]] = True
    return kept
