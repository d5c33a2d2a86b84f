"""What the training data is compared with: the evaluation prompts as sets, signatures and fingerprints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .minhash import Bands, bands_for
from .sets import MOST_TEXTS, Sets, Vocabulary, different, sets_of
from .templates import Runs, dull_runs
from .words import Counts, Hashes, Words, grams, shingles, whole, words_of

Number = TypeVar("Number", np.uint64, np.int64)
SHINGLE = 3
"""Words of a run when whole prompts are compared. Engineering default: one changed word then changes three runs."""
GRAM = 13
"""Words of a run that is called shared text (Brown et al. 2020, arXiv 2005.14165, appendix C)."""


@dataclass(frozen=True)
class Plan:
    """How the comparison is made."""

    threshold: float = 0.7
    """Overlap of two prompts' runs of words from which they are near duplicates (Jaccard 1912)."""
    gram: int = GRAM
    shingle: int = SHINGLE


@dataclass(frozen=True)
class Index:
    """Evaluation prompts, ready to be compared with. Arrays only, so that it can be saved."""

    threshold: float
    gram: int
    shingle: int
    prompts: int
    """Evaluation rows, those without a prompt too."""
    whole: Hashes
    """Fingerprints of the prompts that have words, rising [P]."""
    whole_row: Counts
    """The evaluation row of each [P]."""
    runs: Hashes
    """Different runs of words of all prompts, rising [V]."""
    dull: Hashes
    """Runs that belong to a template, rising."""
    pairs: Counts
    """row * V + place of the run, rising: which prompt holds which run."""
    sizes: Counts
    """Runs of each prompt, those of a template left out [prompts]."""
    keys: Hashes
    """Keys of the bands, rising within a band [bands, K]."""
    key_row: Counts
    """The evaluation row of each key [bands, K]."""
    grams: Hashes
    """Different longer runs, rising [G]."""
    gram_pairs: Counts
    """row * G + place of the run, rising."""

    @property
    def bands(self) -> Bands:
        """The hash functions of the signatures."""
        return Bands(bands_for(self.threshold))

    def save(self, folder: Path) -> None:
        """Write the arrays into `folder`."""
        for field in fields(self):
            np.save(folder / f"{field.name}.npy", np.asarray(getattr(self, field.name)))

    @staticmethod
    def load(folder: Path) -> Index:
        """Read what `save` wrote."""
        arrays: dict[str, Any] = {f.name: np.load(folder / f"{f.name}.npy", allow_pickle=False) for f in fields(Index)}
        return Index(**{name: a if a.ndim else a.item() for name, a in arrays.items()})


@dataclass(frozen=True)
class _Digest:
    """Texts in parts of at most `MOST_TEXTS`, as words and runs of words."""

    words: list[Words]
    runs: list[Runs]
    grams: list[Runs]

    @property
    def prints(self) -> Hashes:
        return _joined([whole(w) for w in self.words], np.uint64)

    @property
    def counts(self) -> Counts:
        return _joined([w.counts for w in self.words], np.int64)


def build(texts: Sequence[str], plan: Plan, train_sample: Sequence[str] = ()) -> Index:
    """Return the index of the evaluation prompts `texts`.

    Args:
        texts: One for each evaluation row, empty where it has none.
        plan: How to compare.
        train_sample: Some training prompts, to tell the template that they share.
    """
    held, sample = _digest(texts, plan), _digest(train_sample, plan)
    prints = held.prints
    dull = dull_runs(prints, _sets(held.runs), sample.prints, _sets(sample.runs))
    dull_grams = dull_runs(prints, _sets(held.grams), sample.prints, _sets(sample.grams))
    kept = _sets([one.without(Vocabulary(dull)) for one in held.runs])
    longer = _sets([one.without(Vocabulary(dull_grams)) for one in held.grams])
    runs = different(_joined([one.hashes for one in kept], np.uint64))
    long_runs = different(_joined([one.hashes for one in longer], np.uint64))
    keys, rows = _bands(kept, Bands(bands_for(plan.threshold)))
    order = np.argsort(prints, kind="stable")
    there = order[held.counts[order] > 0]
    return Index(
        threshold=plan.threshold,
        gram=plan.gram,
        shingle=plan.shingle,
        prompts=len(texts),
        whole=prints[there],
        whole_row=there,
        runs=runs,
        dull=dull,
        pairs=_pairs(kept, runs),
        sizes=_joined([one.sizes for one in kept], np.int64),
        keys=keys,
        key_row=rows,
        grams=long_runs,
        gram_pairs=_pairs(longer, long_runs),
    )


def _digest(texts: Sequence[str], plan: Plan) -> _Digest:
    words = [words_of(texts[i : i + MOST_TEXTS]) for i in range(0, len(texts), MOST_TEXTS)]
    return _Digest(
        words,
        [Runs(*shingles(w, plan.shingle), plan.shingle) for w in words],
        [Runs(*grams(w, plan.gram), plan.gram) for w in words],
    )


def _sets(runs: Sequence[Runs]) -> list[Sets]:
    return [sets_of(one.hashes, one.counts) for one in runs]


def _joined(parts: Sequence[NDArray[Number]], kind: type[Number]) -> NDArray[Number]:
    return np.concatenate([np.zeros(0, kind), *parts])


def _pairs(sets: Sequence[Sets], vocabulary: Hashes) -> Counts:
    parts: list[Counts] = [np.zeros(0, np.int64)]
    start = 0
    for one in sets:
        parts.append((start + one.owner) * vocabulary.size + np.searchsorted(vocabulary, one.hashes))
        start += one.texts
    return np.concatenate(parts)


def _bands(sets: Sequence[Sets], bands: Bands) -> tuple[Hashes, Counts]:
    """Return the keys of all prompts, sorted within each band [bands, K], and the row of each."""
    keys: list[Hashes] = [np.zeros((0, bands.bands), np.uint64)]
    rows: list[Counts] = [np.zeros(0, np.int64)]
    start = 0
    for one in sets:
        chosen = np.flatnonzero(one.sizes)
        if chosen.size:
            keys.append(bands.keys(one, chosen))
            rows.append(start + chosen)
        start += one.texts
    flat, row = np.concatenate(keys).T, np.concatenate(rows)
    order = np.argsort(flat, axis=1, kind="stable")
    return np.take_along_axis(flat, order, axis=1), row[order]
