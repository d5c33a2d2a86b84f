"""A random sample of blocks of consecutive rows, in bounded memory: neighbours stay neighbours."""

from __future__ import annotations

import numpy as np

from .rows import Sample

BLOCK = 64
"""Consecutive rows kept together, so that answers shifted by a row can be seen."""
MOST_ROWS = 200_000
MOST_BYTES = 256 << 20


class Reservoir:
    """Keep whole blocks with equal probability (Vitter 1985, algorithm R); shrink when the bytes run out."""

    def __init__(self, rows: int = MOST_ROWS, size: int = MOST_BYTES, seed: int = 0) -> None:
        self._room = max(1, rows // BLOCK)
        self._size = size
        self._random = np.random.default_rng(seed)
        self._blocks: list[list[Sample]] = []
        self._held: list[int] = []
        self._bytes = 0
        self._seen = 0
        self._open: list[Sample] = []
        self.complete = True
        """Whether every row is in the sample."""

    def add(self, sample: Sample) -> None:
        """Take in the next row."""
        self._open.append(sample)
        if len(self._open) == BLOCK:
            self._close()

    def _close(self) -> None:
        block, self._open = self._open, []
        size = sum(s.size for s in block)
        self._seen += 1
        if len(self._blocks) < self._room:
            self._blocks.append(block)
            self._held.append(size)
            self._bytes += size
        else:
            self.complete = False
            place = int(self._random.integers(self._seen))
            if place < self._room:
                self._bytes += size - self._held[place]
                self._blocks[place], self._held[place] = block, size
        while self._bytes > self._size and len(self._blocks) > 1:
            self._drop()

    def _drop(self) -> None:
        """Give up a block at random; what is left is still an even sample."""
        place = int(self._random.integers(len(self._blocks)))
        self._blocks[place], self._held[place] = self._blocks[-1], self._held[-1]
        self._blocks.pop()
        self._bytes -= self._held.pop()
        self._room = len(self._blocks)
        self.complete = False

    def blocks(self) -> list[list[Sample]]:
        """Return the blocks in the order of the file."""
        if self._open:
            self._close()
        return sorted(self._blocks, key=lambda block: block[0].number)
