"""`DataFile`: what the data checks look at. Counts and fingerprints of all rows, a sample of the rows themselves."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from .fields import names_in, roles_of
from .reading import Row, Rows
from .reservoir import MOST_BYTES, MOST_ROWS, Reservoir
from .rows import Sample, sample_of

Keys = NDArray[np.int64]
NAMING_ROWS = 200
"""Rows whose columns are read to tell which role each plays."""


@dataclass
class DataFile:
    """A file, read once. Row numbers begin at 1 and count data rows, not the header of a table."""

    path: str
    roles: dict[str, str]
    """Role -> column."""
    rows: int
    """Rows that could be read."""
    unreadable_rows: int
    unreadable: tuple[int, ...]
    """Numbers of the first rows that could not."""
    faults: dict[str, Counter[str]]
    """Role -> kind of fault -> rows."""
    first_fault: dict[str, int]
    prompts: Keys
    """Fingerprints of the prompts [rows], 0 where there is none; equal up to case, space and punctuation."""
    prompts_exact: Keys
    whole: Keys
    """Fingerprints of whole rows [rows]."""
    answers: Keys
    blocks: list[list[Sample]] = field(default_factory=list[list[Sample]])
    complete: bool = True
    """Whether the sample holds every row."""
    numbers: Keys = field(default_factory=lambda: np.empty(0, np.int64))
    """Row numbers [rows] belonging to the fingerprints."""
    held_out: DataFile | None = None
    """The evaluation data, when given."""
    eos_id: int | None = None
    pad_id: int | None = None

    @cached_property
    def samples(self) -> list[Sample]:
        """The sampled rows in the order of the file."""
        return [s for block in self.blocks for s in block]

    @property
    def kind(self) -> str:
        """Pairs, tokens, answers or prompts: what the file is for."""
        if "chosen" in self.roles and "rejected" in self.roles:
            return "pairs"
        if "input_ids" in self.roles:
            return "tokens"
        if any(role in self.roles for role in ("answer", "completion", "messages", "chosen")):
            return "answers"
        return "prompts"

    def with_texts(self, *roles: str) -> list[Sample]:
        """Return the sampled rows that have all these texts."""
        return [s for s in self.samples if all(role in s.texts for role in roles)]

    def with_tokens(self, *roles: str) -> list[Sample]:
        """Return the sampled rows that have all these token lists, of equal length and not empty."""
        if not all(role in self.roles for role in roles):
            return []
        fit = (s for s in self.samples if all(role in s.tokens for role in roles))
        return [s for s in fit if len({s.tokens[r].size for r in roles}) == 1 and s.tokens[roles[0]].size]


def read_data(
    path: Path,
    *,
    columns: Mapping[str, str] | None = None,
    rows: int = MOST_ROWS,
    size: int = MOST_BYTES,
    seed: int = 0,
) -> DataFile:
    """Read `path` once.

    Args:
        columns: role -> column, where the names are not understood by themselves.
        rows: most rows of the sample; counts and fingerprints are of all.
        size: most bytes of the sample.

    Raises:
        InputError: the file holds no row, or no column of a known role.
    """
    source = Rows(path)
    stream = iter(source)
    opening = list(islice(stream, NAMING_ROWS))
    if not opening:
        raise InputError(
            f"{path}: no row in it that can be read ({source.unreadable_rows} that cannot)."
            if source.unreadable_rows
            else f"{path}: no row in it.",
            "A data file has one JSON object a line, or a header and one row a line.",
        )
    roles = roles_of(dict.fromkeys(name for _, row in opening for name in names_in(row)), columns)
    return _digest(source, chain(opening, stream), roles, Reservoir(rows, size, seed))


def _digest(source: Rows, stream: Iterable[tuple[int, Row]], roles: dict[str, str], reservoir: Reservoir) -> DataFile:
    keys = tuple(array("q") for _ in range(5))
    faults: dict[str, Counter[str]] = {}
    first: dict[str, int] = {}
    for number, row in stream:
        sample = sample_of(number, row, roles)
        for store, key in zip(keys, (number, *_fingerprints(sample)), strict=True):
            store.append(key)
        for role, kind in sample.faults.items():
            faults.setdefault(role, Counter())[kind] += 1
            first.setdefault(role, number)
        reservoir.add(sample)
    numbers, prompts, exact, whole, answers = (np.frombuffer(store, np.int64) for store in keys)
    blocks = reservoir.blocks()
    return DataFile(
        str(source.path), roles, int(numbers.size), source.unreadable_rows, tuple(source.unreadable), faults, first,
        prompts, exact, whole, answers, blocks, reservoir.complete, numbers,
    )  # fmt: skip


def _fingerprints(sample: Sample) -> Iterator[int]:
    """Yield the fingerprints of prompt (normalised, exact), whole row and answer; 0 for what is not there."""
    texts = sample.texts
    parts = [texts[r] for r in ("prompt", "context") if r in texts]
    there = "prompt" in texts and not texts["prompt"].empty
    yield hash(tuple(p.normal for p in parts)) if there else 0
    yield hash(tuple(p.exact for p in parts)) if there else 0
    tokens = sample.tokens.get("input_ids")
    yield hash((tuple((r, texts[r].exact) for r in sorted(texts)), None if tokens is None else tokens.tobytes()))
    answer = texts.get("answer", texts.get("completion"))
    yield 0 if answer is None else answer.normal
