"""From a stream of samples to a `Table`: each sample is measured as it passes, and forgotten."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from .measure import Measure, all_measures
from .reservoir import Extremes, Groups, Reservoir
from .sample import NAN, UNNAMED, Sample, done_by
from .seen import Seen
from .table import KEPT, KEPT_DRAWN, KEPT_TOGETHER, MOST_SCORES, OPENING_WORDS, Column, Table

SAID = (
    "reward", "human", "human_chosen", "success", "advantage", "truncated", "length_tokens", "step", "unsafe",
    "versions_spanned",
)  # fmt: skip
"""Columns that come from the log, in the order of `said`."""


def collect(samples: Iterable[Sample], path: str = "") -> Table:
    """Measure every sample and keep the numbers, and the texts of a few; `path` says where they came from."""
    collector = Collector()
    for sample in samples:
        collector.add(sample)
    return collector.table(path)


class Collector:
    """A table under construction."""

    def __init__(self, measures: tuple[Measure, ...] | None = None) -> None:
        self._measured = [Block(one) for one in (all_measures() if measures is None else measures)]
        self._said = array("f")
        self._scores: dict[str, array[float]] = {}
        self._refused: set[str] = set()
        self._marks = array("Q")
        self._rows = array("q")
        self._top, self._bottom = Extremes(KEPT), Extremes(KEPT, sign=-1)
        self._drawn, self._together = Reservoir(KEPT_DRAWN), Groups(KEPT_TOGETHER)
        self.n = self._unnamed = 0

    def add(self, sample: Sample) -> None:
        """Measure the next sample."""
        if not (sample.group or sample.prompt):
            # Nothing says that two such answers are rivals, nor that their prompts differ.
            self._unnamed += 1
            sample = replace(sample, group=f"{UNNAMED}{self.n}")
        seen = Seen(sample)
        self._said.extend(said(sample))
        if sample.scores:
            self._score(sample.scores)
        worded = bool(sample.response or sample.turns) or sample.tokens is None
        for block in self._measured:
            block.add(seen if worded or not block.of_words else None, self.n)
        group = fingerprint(sample.group or sample.prompt)
        words = seen.words[:OPENING_WORDS]
        opening = fingerprint(" ".join(words)) if len(words) == OPENING_WORDS else 0
        prompt = fingerprint(sample.prompt) if sample.prompt and sample.group else group
        prompt = fingerprint("") if sample.group.startswith(UNNAMED) else prompt
        self._marks.extend(
            (
                group,
                fingerprint(sample.response if sample.response and not sample.turns else done_by(sample)),
                opening,
                prompt,
            )
        )
        self._rows.append(sample.row)
        self._top.add(sample)
        self._bottom.add(sample)
        self._drawn.add(sample)
        self._together.add(group, sample)
        self.n += 1

    def _score(self, scores: Mapping[str, float]) -> None:
        for name, value in scores.items():
            column = self._scores.get(name)
            if column is None:
                if len(self._scores) >= MOST_SCORES:
                    if len(self._refused) < 10_000:
                        self._refused.add(name)
                    continue
                column = self._scores[name] = array("f")
            if len(column) < self.n:
                column.extend([NAN] * (self.n - len(column)))
            column.append(value)

    def table(self, path: str = "") -> Table:
        """Return what was collected."""
        columns = known(SAID, self._said)
        for name, column in self._scores.items():
            column.extend([NAN] * (self.n - len(column)))
            columns |= known((f"score/{name}",), column)
        for block in self._measured:
            columns |= block.columns(self.n)
        group, response, opening, prompt = (np.array(c) for c in marks(self._marks).T)
        return Table(
            path=path,
            columns=columns,
            group=group,
            top=self._top.samples(),
            bottom=self._bottom.samples(),
            drawn=self._drawn.samples(),
            together=self._together.samples(),
            response=response,
            opening=opening,
            prompt=prompt,
            row=np.frombuffer(self._rows, np.int64) if self.n else np.zeros(0, np.int64),
            faults={block.measure.module: block.fault for block in self._measured if block.fault},
            dropped_scores=len(self._refused),
            unnamed=self._unnamed,
        )


class Block:
    """The columns of one measure, begun with the first sample that it concerns."""

    def __init__(self, measure: Measure) -> None:
        self.measure = measure
        self._nothing = measure.nothing
        self.of_words = all(name.startswith("text/") for name in measure.columns)
        """Whether it measures words: of a response that the log holds as token ids alone it would see none."""
        self._values = array("f")
        self._begun = False
        self.fault = ""

    def add(self, seen: Seen | None, before: int) -> None:
        """Measure one sample; `before` came earlier. A measure that fails says nothing, and the audit goes on."""
        try:
            values = None if seen is None else self.measure.take(seen)
        except Exception as error:
            self.fault = self.fault or f"{type(error).__name__}: {error}"[:200]
            values = None
        if values is None:
            if not self._begun:
                return
            values = self._nothing
        elif not self._begun:
            self._begun = True
            self._values = array("f", self._nothing) * before
        self._values.extend(values)

    def columns(self, n: int) -> dict[str, Column]:
        """Return the columns [n]."""
        return known(tuple(self.measure.columns), self._values) if self._begun else {}


def known(names: tuple[str, ...], values: array[float]) -> dict[str, Column]:
    """Return the columns `names` out of rows one after another; those without any number are left out."""
    rows = np.frombuffer(values, np.float32).reshape(-1, len(names)) if len(values) else np.zeros((0, len(names)), "f4")
    return {name: rows[:, i].copy() for i, name in enumerate(names) if not np.isnan(rows[:, i]).all()}


def marks(values: array[int]) -> NDArray[np.uint64]:
    """Return the fingerprints as rows of four [N, 4]."""
    return np.frombuffer(values, np.uint64).reshape(-1, 4) if len(values) else np.zeros((0, 4), np.uint64)


def said(sample: Sample) -> tuple[float, ...]:
    """Return what the log says of a sample, in the order of `SAID`."""
    versions = sample.versions
    return (
        sample.reward,
        sample.human,
        sample.human_chosen,
        truth(sample.success),
        sample.advantage,
        truth(sample.truncated),
        sample.length_tokens,
        sample.step,
        truth(sample.unsafe),
        NAN if versions is None else versions[1] - versions[0],
    )


def truth(value: bool | None) -> float:
    """Return 1, 0 or NaN."""
    return NAN if value is None else float(value)


def fingerprint(text: str) -> int:
    """Return 64 bits that are equal for equal texts, in every process (BLAKE2, RFC 7693)."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
