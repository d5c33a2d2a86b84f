"""What was found for each evaluation prompt, added up over pieces and processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from .answers import carries
from .matching import Hits
from .rows import Piece
from .words import Counts

FILE = 1 << 40
"""A training row is file * FILE + number."""
NOWHERE = np.iinfo(np.int64).max


@dataclass
class Tally:
    """Arrays over evaluation rows [E] or runs of words [G], and counts of training rows."""

    prompts: int
    grams: int
    exact: Counts = field(init=False)
    """Training rows with the very text [E]."""
    same: Counts = field(init=False)
    """Training rows with the same words, exact ones among them [E]."""
    near: Counts = field(init=False)
    """Training rows with nearly the same words, others than those [E]."""
    answered: Counts = field(init=False)
    """Of these training rows those that give the evaluation's answer [E]."""
    first_exact: Counts = field(init=False)
    first_same: Counts = field(init=False)
    best_overlap: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = field(init=False)
    best_near: Counts = field(init=False)
    gram_row: Counts = field(init=False)
    """First training row that holds each run [G]."""
    counts: Counts = field(init=False)
    """Rows, without a prompt, unreadable, not UTF-8, crowded, matched at all [6]."""

    def __post_init__(self) -> None:
        for name in ("exact", "same", "near", "answered"):
            setattr(self, name, np.zeros(self.prompts, np.int64))
        for name in ("first_exact", "first_same", "best_near"):
            setattr(self, name, np.full(self.prompts, NOWHERE, np.int64))
        self.best_overlap = np.zeros(self.prompts)
        self.gram_row = np.full(self.grams, NOWHERE, np.int64)
        self.counts = np.zeros(6, np.int64)

    def add(self, piece: Piece, hits: Hits, prompts: Sequence[str], answers: Sequence[str]) -> None:
        """Count what one piece has; `prompts` and `answers` are those of the evaluation."""
        numbers = np.array(piece.numbers, np.int64) + piece.file * FILE
        self._same(piece, hits, numbers, prompts)
        known: set[tuple[int, int]] = set(zip(hits.same_text.tolist(), hits.same_row.tolist(), strict=True))
        other = np.array(
            [p not in known for p in zip(hits.near_text.tolist(), hits.near_row.tolist(), strict=True)], np.bool_
        )
        self._near(hits.near_row[other], hits.near_overlap[other], numbers[hits.near_text[other]])
        pairs = known | set(zip(hits.near_text.tolist(), hits.near_row.tolist(), strict=True))
        for text, row in pairs:
            wanted = answers[row]
            self.answered[row] += bool(wanted) and carries(piece.answers[text], wanted)
        np.minimum.at(self.gram_row, hits.gram_place, numbers[hits.gram_text])
        empty = sum(not p.strip() for p in piece.prompts)
        matched = len({text for text, _ in pairs})
        self.counts += [
            len(piece.numbers), empty, piece.unreadable_rows, piece.not_utf8_rows, hits.crowded, matched,
        ]  # fmt: skip

    def _same(self, piece: Piece, hits: Hits, numbers: Counts, prompts: Sequence[str]) -> None:
        np.add.at(self.same, hits.same_row, 1)
        np.minimum.at(self.first_same, hits.same_row, numbers[hits.same_text])
        pairs = zip(hits.same_text.tolist(), hits.same_row.tolist(), strict=True)
        very = np.array([piece.prompts[t] == prompts[r] for t, r in pairs], np.bool_)
        np.add.at(self.exact, hits.same_row[very], 1)
        np.minimum.at(self.first_exact, hits.same_row[very], numbers[hits.same_text[very]])

    def _near(self, row: Counts, overlap: np.ndarray[tuple[int, ...], np.dtype[np.float64]], number: Counts) -> None:
        np.add.at(self.near, row, 1)
        for i in np.lexsort((number, -overlap)).tolist():
            better = overlap[i] > self.best_overlap[row[i]]
            if better or (overlap[i] == self.best_overlap[row[i]] and number[i] < self.best_near[row[i]]):
                self.best_overlap[row[i]], self.best_near[row[i]] = overlap[i], number[i]

    def merge(self, other: Tally) -> None:
        """Add what another process found; the order does not matter."""
        for name in ("exact", "same", "near", "answered", "counts"):
            getattr(self, name).__iadd__(getattr(other, name))
        for name in ("first_exact", "first_same", "gram_row"):
            setattr(self, name, np.minimum(getattr(self, name), getattr(other, name)))
        better = other.best_overlap > self.best_overlap
        tied = (other.best_overlap == self.best_overlap) & (other.best_near < self.best_near)
        self.best_near = np.where(better | tied, other.best_near, self.best_near)
        self.best_overlap = np.maximum(self.best_overlap, other.best_overlap)

    def save(self, path: Path) -> None:
        """Write the arrays."""
        arrays: dict[str, Any] = {f.name: np.asarray(getattr(self, f.name)) for f in fields(self)}
        np.savez(path, **arrays)

    @staticmethod
    def load(path: Path) -> Tally:
        """Read what `save` wrote."""
        with np.load(path, allow_pickle=False) as arrays:
            found = Tally(int(arrays["prompts"]), int(arrays["grams"]))
            for one in fields(Tally):
                if not one.init:
                    setattr(found, one.name, arrays[one.name])
        return found
