"""What the comparison found, in words that a report can use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .answers import Leak
from .index import Index
from .matching import FEWEST
from .rows import Piece
from .tally import FILE, NOWHERE, Tally
from .words import Counts

PART = 0.5
"""Share of its long runs from which a prompt is shared text; one run alone may be a quote. Engineering default."""
BLIND_FRAC = 0.1
"""Share of rows without a prompt above which finding nothing says nothing. Engineering default."""


@dataclass
class Sources:
    """The evaluation rows."""

    files: list[str]
    prompts: list[str] = field(default_factory=list[str])
    answers: list[str] = field(default_factory=list[str])
    places: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """File and row number of each."""
    leaks: list[Leak] = field(default_factory=list[Leak])
    unreadable_rows: int = 0
    not_utf8_rows: int = 0

    def add(self, piece: Piece) -> None:
        """Take over the rows of a piece."""
        self.prompts += piece.prompts
        self.answers += piece.answers
        self.places += [(piece.file, number) for number in piece.numbers]
        self.unreadable_rows += piece.unreadable_rows
        self.not_utf8_rows += piece.not_utf8_rows


@dataclass(frozen=True)
class Match:
    """An evaluation prompt that is in the training data."""

    kind: str
    """exact (the very text), normalised (the same words), near (overlap at the threshold), shared (long runs)."""
    eval_file: str
    eval_row: int
    train_file: str
    train_row: int
    """Of the training row that is most alike, the first of several."""
    similarity: float
    """Jaccard overlap of the runs of words; for shared text the share of long runs found."""
    train_rows: int
    """Training rows that are alike; 0 for shared text, which is not counted in rows."""
    answered_rows: int
    """Of these those that give the evaluation's answer as well."""
    prompt: str = field(default="", repr=False)
    """The evaluation prompt, untrusted: clean it before showing it."""


@dataclass(frozen=True)
class Contamination:
    """Every match, and what could not be looked at."""

    matches: tuple[Match, ...]
    leaks: tuple[tuple[str, int, str], ...]
    """File, row and kind of evaluation prompts that give their own answer away."""
    eval_rows: int
    eval_prompts: int
    """Rows that have a prompt."""
    answers: int
    """Rows that have a prompt and an answer."""
    train_rows: int
    train_without_prompt: int
    train_matched: int
    """Training rows that hold an evaluation prompt at least nearly: what would have to go."""
    unreadable_rows: tuple[int, int]
    """Of training and of evaluation."""
    not_utf8_rows: tuple[int, int]
    short: int
    """Evaluation prompts too short, but for their template, to be compared nearly."""
    without_grams: int
    """Evaluation prompts too short to share a long run."""
    quoted: int
    """Evaluation prompts that share a long run with training, but fewer than `PART` of theirs: quotes, or parts."""
    template_runs: int
    crowded: int
    """Training rows with more candidates than were compared in full."""
    threshold: float
    gram: int

    def of(self, kind: str) -> list[Match]:
        """Return the matches of one kind."""
        return [m for m in self.matches if m.kind == kind]

    @property
    def found_frac(self) -> float:
        """Share of the evaluation prompts that are in the training data at least nearly."""
        return sum(m.kind != "shared" for m in self.matches) / self.eval_prompts

    @property
    def blind_frac(self) -> float:
        """Share of the rows that hold no prompt to be compared, of training or of evaluation: the larger one."""
        return max(self.train_without_prompt / self.train_rows, 1.0 - self.eval_prompts / self.eval_rows)

    @property
    def outcome(self) -> str:
        """found, none, or undecided: nothing was found, and of too many rows nothing could be seen."""
        if self.found_frac or self.leaks:
            return "found"
        return "undecided" if self.blind_frac > BLIND_FRAC else "none"


def result_of(tally: Tally, index: Index, held: Sources, train: Sequence[str]) -> Contamination:
    """Return the matches of a finished comparison."""
    there = np.array([bool(p.strip()) for p in held.prompts])
    share, gram_row = _shared(tally, index)
    matches = [m for row in np.flatnonzero(there).tolist() if (m := _match(row, tally, share, gram_row, held, train))]
    alike = (tally.same > 0) | (tally.near > 0)
    rows, empty, unreadable, not_utf8, crowded, matched = (int(n) for n in tally.counts)
    return Contamination(
        matches=tuple(matches),
        leaks=tuple((held.files[held.places[k.row][0]], held.places[k.row][1], k.kind) for k in held.leaks),
        eval_rows=len(held.prompts),
        eval_prompts=int(there.sum()),
        answers=sum(bool(p.strip()) and bool(a) for p, a in zip(held.prompts, held.answers, strict=True)),
        train_rows=rows,
        train_without_prompt=empty,
        train_matched=matched,
        unreadable_rows=(unreadable, held.unreadable_rows),
        not_utf8_rows=(not_utf8, held.not_utf8_rows),
        short=int(np.count_nonzero(there & (index.sizes < FEWEST))),
        without_grams=int(np.count_nonzero(there & np.isnan(share))),
        quoted=int(np.count_nonzero(there & ~alike & (share > 0) & (share < PART))),
        template_runs=int(index.dull.size),
        crowded=crowded,
        threshold=index.threshold,
        gram=index.gram,
    )


def _shared(tally: Tally, index: Index) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.float64]], Counts]:
    """Return the share of its long runs that each prompt has in the training data [E], and the first such row [E]."""
    row, place = np.divmod(index.gram_pairs, max(index.grams.size, 1))
    found = tally.gram_row[place] < NOWHERE
    total = np.bincount(row, minlength=index.prompts)
    with np.errstate(invalid="ignore"):
        share = np.bincount(row[found], minlength=index.prompts) / total
    first = np.full(index.prompts, NOWHERE, np.int64)
    np.minimum.at(first, row, tally.gram_row[place])
    return share, first


def _match(
    row: int,
    tally: Tally,
    share: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    gram_row: Counts,
    held: Sources,
    train: Sequence[str],
) -> Match | None:
    if tally.exact[row]:
        kind, where, similarity = "exact", int(tally.first_exact[row]), 1.0
    elif tally.same[row]:
        kind, where, similarity = "normalised", int(tally.first_same[row]), 1.0
    elif tally.near[row]:
        kind, where, similarity = "near", int(tally.best_near[row]), float(tally.best_overlap[row])
    elif share[row] >= PART:
        kind, where, similarity = "shared", int(gram_row[row]), float(share[row])
    else:
        return None
    file, number = divmod(where, FILE)
    eval_file, eval_row = held.places[row]
    return Match(
        kind=kind,
        eval_file=held.files[eval_file],
        eval_row=eval_row,
        train_file=train[file],
        train_row=number,
        similarity=similarity,
        train_rows=int(tally.same[row] + tally.near[row]),
        answered_rows=int(tally.answered[row]),
        prompt=held.prompts[row],
    )
