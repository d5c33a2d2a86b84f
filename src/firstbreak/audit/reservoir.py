"""Which samples are kept with their texts: an even draw, whole groups, and the ends of the reward."""

from __future__ import annotations

import heapq
import math
import random
from dataclasses import replace

from .sample import Sample

MOST_CHARACTERS = 20_000
"""Characters kept of each text of a sample; of a longer one the two ends. Engineering default: 5,000 tokens."""
MOST_TOKENS = 4096
"""Longer lists of ids are not kept. Engineering default."""
MOST_BYTES = 192 << 20
"""What a draw may hold. Engineering default: four draws leave room within 2 GB."""


class Reservoir:
    """Samples drawn evenly (Vitter 1985, algorithm R), fewer where the bytes run out."""

    def __init__(self, room: int, size: int = MOST_BYTES, seed: int = 0) -> None:
        self._room = room
        self._size = size
        self._random = random.Random(seed)  # noqa: S311 (a draw of samples, not a secret)
        self._kept: list[tuple[int, Sample, int]] = []
        self._bytes = 0
        self._seen = 0

    def add(self, sample: Sample) -> None:
        """Take in the next sample."""
        number = self._seen
        self._seen += 1
        if len(self._kept) < self._room and number == len(self._kept):
            place = number
            self._kept.append((number, sample, 0))
        else:
            place = int(self._random.random() * self._seen)
            if place >= self._room:
                return
        kept = shortened(sample)
        size = bytes_of(kept)
        self._bytes += size - self._kept[place][2]
        self._kept[place] = (number, kept, size)
        while self._bytes > self._size and len(self._kept) > 1:
            self._drop()

    def _drop(self) -> None:
        """Give up one at random; what is left is still an even draw."""
        place = int(self._random.random() * len(self._kept))
        self._bytes -= self._kept[place][2]
        self._kept[place] = self._kept[-1]
        self._kept.pop()
        self._room = len(self._kept)

    def samples(self) -> tuple[Sample, ...]:
        """Return what was drawn, in the order it came."""
        return tuple(sample for _, sample, _ in sorted(self._kept, key=lambda entry: entry[0]))


class Groups:
    """Whole groups, drawn evenly among all: those of the smallest fingerprints (Cohen and Kaplan 2007, bottom-k)."""

    def __init__(self, room: int, size: int = MOST_BYTES, largest: int = 64) -> None:
        self._room = room
        self._size = size
        self._largest = largest
        self._groups: dict[int, list[tuple[Sample, int]]] = {}
        self._heap: list[int] = []
        self._edge = 1 << 64
        self._count = 0
        self._bytes = 0

    def add(self, group: int, sample: Sample) -> None:
        """Take in the next sample, of the group with this fingerprint; of a very large group only the first."""
        if group >= self._edge:
            return
        members = self._groups.get(group)
        if members is None:
            members = self._groups[group] = []
            heapq.heappush(self._heap, -group)
        if len(members) >= self._largest:
            return
        kept = shortened(sample)
        members.append((kept, bytes_of(kept)))
        self._count += 1
        self._bytes += members[-1][1]
        while (self._count > self._room or self._bytes > self._size) and len(self._groups) > 1:
            self._edge = -heapq.heappop(self._heap)
            gone = self._groups.pop(self._edge)
            self._count -= len(gone)
            self._bytes -= sum(size for _, size in gone)

    def samples(self) -> tuple[Sample, ...]:
        """Return the members of the groups kept, group by group."""
        return tuple(sample for members in self._groups.values() for sample, _ in members)


class Extremes:
    """The samples of the highest rewards, or with `sign` -1 of the lowest; among equals the earlier ones."""

    def __init__(self, room: int, sign: int = 1) -> None:
        self._room = room
        self._sign = sign
        self._heap: list[tuple[float, int, Sample]] = []
        self._seen = 0

    def add(self, sample: Sample) -> None:
        """Take in the next sample; one without a reward is passed by."""
        self._seen += 1
        worth = self._sign * sample.reward
        if math.isnan(worth) or (len(self._heap) >= self._room and worth <= self._heap[0][0]):
            return
        entry = (worth, -self._seen, shortened(sample))
        if len(self._heap) < self._room:
            heapq.heappush(self._heap, entry)
        else:
            heapq.heapreplace(self._heap, entry)

    def samples(self) -> tuple[Sample, ...]:
        """Return them, the most extreme first."""
        return tuple(sample for _, _, sample in sorted(self._heap, key=lambda entry: (-entry[0], -entry[1])))


def shortened(sample: Sample) -> Sample:
    """Return `sample` with long texts reduced to their ends and long lists of ids left out."""
    tokens = sample.tokens
    long_tokens = tokens is not None and max(len(tokens.ids), len(tokens.retokenised)) > MOST_TOKENS
    turns = sum(len(t.text) + sum(len(c.arguments) + len(c.result) for c in t.calls) for t in sample.turns)
    if max(len(sample.prompt), len(sample.response), len(sample.answer), turns) <= MOST_CHARACTERS and not long_tokens:
        return sample
    return replace(
        sample,
        prompt=ends_of(sample.prompt),
        response=ends_of(sample.response),
        answer=ends_of(sample.answer),
        turns=() if turns > 4 * MOST_CHARACTERS else sample.turns,
        tokens=None if long_tokens else tokens,
    )


def ends_of(text: str) -> str:
    """Return `text`, or its two ends where it is long."""
    half = MOST_CHARACTERS // 2
    return text if len(text) <= MOST_CHARACTERS else f"{text[:half]}\n[...]\n{text[-half:]}"


def bytes_of(sample: Sample) -> int:
    """Return roughly what a sample holds in memory, bytes: two a character, 36 a token, 1,000 for the rest."""
    texts = len(sample.prompt) + len(sample.response) + len(sample.answer)
    texts += sum(len(t.text) + sum(len(c.arguments) + len(c.result) + 100 for c in t.calls) for t in sample.turns)
    held = sample.tokens
    ids = 0 if held is None else len(held.ids) + len(held.loss_mask) + len(held.logprobs) + len(held.retokenised)
    return 1000 + 2 * texts + 36 * ids
