"""Records of an event file: where each lies, found in bounded memory, with every length checksum checked.

A record is `length` (uint64), masked CRC-32C of the length, data, masked CRC-32C of the data (TensorFlow,
`tensorflow/core/lib/io/record_writer.h`). The walk from length to length is the only loop per record; the checksums of
a whole block of lengths are compared at once.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .crc32c import Bytes, crc32c, mask, masked_length, masked_lengths

HEADER, FOOTER = 12, 4
BLOCK_BYTES = 8 << 20
"""Bytes read at once. Also the longest record that is looked into: scalars take about 60 bytes."""
PADDING = 64
"""Zero bytes after the data of a block, so that rows of whole words may be gathered at its end (up to 7 bytes more)."""
SEARCH_BYTES = 4096

Positions = NDArray[np.int64]
_LENGTH = struct.Struct("<Q")
_SUM = struct.Struct("<I")


@dataclass
class Block:
    """Some records in memory: the data of record i is `data[starts[i] : starts[i] + lengths[i]]`.

    `data` is valid only until the next block is asked for.
    """

    data: bytearray
    view: Bytes
    starts: Positions
    lengths: Positions
    offset: int
    """Where in the file `data` begins."""

    def record(self, index: int) -> bytes:
        """Return the data of record `index`."""
        start = int(self.starts[index])
        return bytes(self.data[start : start + int(self.lengths[index])])

    def intact(self, index: int) -> bool:
        """Say whether the checksum of the data of record `index` is right."""
        end = int(self.starts[index] + self.lengths[index])
        return mask(crc32c(self.record(index))) == _SUM.unpack_from(self.data, end)[0]


@dataclass
class Damage:
    """What could not be framed: counts, and the file offset of the first of each."""

    stretches: int = 0
    lost_bytes: int = 0
    first: int = -1
    oversized: int = 0
    cut_at: int = -1
    """Offset of the last record when the file ends inside it."""

    def add(self, lo: int, hi: int) -> None:
        """Note that the bytes [lo, hi) of the file belong to no record."""
        self.first = lo if self.first < 0 else self.first
        self.stretches += 1
        self.lost_bytes += hi - lo


def unaligned(data: bytearray, dtype: str, count: int | None = None) -> NDArray[Any]:
    """Return a view of `data` with one item of `dtype` beginning at every byte: [len(data) - size + 1]."""
    size = np.dtype(dtype).itemsize
    return np.ndarray((max(len(data) - size + 1, 0) if count is None else count,), dtype, data, strides=(1,))


@dataclass
class Framer:
    """Cuts `stream`, which holds `size` bytes, into blocks of records. Iterate once; then read `damage`."""

    stream: io.BufferedIOBase
    size: int
    block_bytes: int = BLOCK_BYTES
    damage: Damage = field(default_factory=Damage)

    def __iter__(self) -> Iterator[Block]:
        data = bytearray(self.block_bytes + PADDING)
        view: Bytes = np.frombuffer(data, dtype=np.uint8)
        kept = offset = 0
        lost = -1  # file offset since which no record was found
        while True:
            with memoryview(data) as window:
                got = self.stream.readinto(window[kept : self.block_bytes])
            end = kept + got
            at = 0
            while True:  # stretches of sound records, between damaged ones
                if lost >= 0:
                    found = _resynchronise(data, view, at, end)
                    if found < 0:
                        at = max(at, end - HEADER + 1)
                        break
                    self.damage.add(lost, offset + found)
                    at, lost = found, -1
                starts, lengths, at, sound = _walk(data, at, end)
                if starts.size:
                    yield Block(data, view, starts + HEADER, lengths, offset)
                if sound:
                    break
                lost, at = offset + at, at + 1
            if not got:
                self._finish(at, end, offset, lost)
                return
            kept, offset = self._carry(data, at, end, offset, lost)

    def _carry(self, data: bytearray, at: int, end: int, offset: int, lost: int) -> tuple[int, int]:
        """Move what is left of the block to its front; step over a record too long to hold."""
        if lost < 0 and end - at >= HEADER:
            total = _LENGTH.unpack_from(data, at)[0] + HEADER + FOOTER
            if total > self.block_bytes and offset + at + total <= self.size:
                self.damage.oversized += 1
                self.stream.seek(offset + at + total)
                return 0, offset + at + total
        kept = end - at
        data[:kept] = data[at:end]
        # A record that claims more than the file holds: its header stays, the rest is read past.
        if kept >= self.block_bytes:
            kept = HEADER
        return kept, offset + at

    def _finish(self, at: int, end: int, offset: int, lost: int) -> None:
        if lost >= 0:
            self.damage.add(lost, offset + end)
        elif at < end:
            self.damage.cut_at = offset + at


def _walk(data: bytearray, at: int, end: int) -> tuple[Positions, Positions, int, bool]:
    """Follow the lengths from `at`.

    Returns the headers' positions [n] and lengths [n] of complete records, the position after them, and whether what
    stands there is the beginning of a record (or nothing) rather than damage.
    """
    found: list[int] = []
    append = found.append
    unpack = _LENGTH.unpack_from
    last = end - HEADER - FOOTER
    while at <= last:
        append(at)
        at += unpack(data, at)[0] + 16
    starts: Positions = np.array(found, dtype=np.int64)
    lengths = unaligned(data, "<u8")[starts]
    right = masked_lengths(lengths) == unaligned(data, "<u4")[starts + 8]
    if not right.all():
        bad = int(np.argmin(right))
        return starts[:bad], lengths[:bad].astype(np.int64), int(starts[bad]), False
    if at > end:  # the last record goes on beyond the block
        return starts[:-1], lengths[:-1].astype(np.int64), int(starts[-1]), True
    if end - at >= HEADER and not header_right(data, at):
        return starts, lengths.astype(np.int64), at, False
    return starts, lengths.astype(np.int64), at, True


def header_right(data: bytearray, at: int) -> bool:
    """Say whether the checksum of the length at `at` is right."""
    return masked_length(_LENGTH.unpack_from(data, at)[0]) == _SUM.unpack_from(data, at + 8)[0]


def _resynchronise(data: bytearray, view: Bytes, at: int, end: int) -> int:
    """Return the next position from `at` where a header with a right checksum stands, or -1."""
    span = SEARCH_BYTES
    while at + HEADER <= end:
        count = min(span, end - HEADER + 1 - at)
        # Only lengths below 2**24 are looked for: longer records are not looked into anyway.
        zero = view[at + 3 : at + 3 + count] == 0
        for byte in range(4, 8):
            zero &= view[at + byte : at + byte + count] == 0
        places: Positions = at + np.flatnonzero(zero)
        if places.size:
            right = masked_lengths(unaligned(data, "<u8")[places]) == unaligned(data, "<u4")[places + 8]
            if right.any():
                return int(places[np.argmax(right)])
        at += count
        span = min(span * 4, 1 << 20)
    return -1
