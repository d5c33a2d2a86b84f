"""The log format of LevelDB, as W&B's `.wandb` files use it: records cut into pieces that fit 32 KiB blocks.

A piece is checksum (uint32), length (uint16), type (full, first, middle, last), data. Reference: LevelDB
`doc/log_format.md`; W&B takes the plain CRC-32 of type and data, and puts 7 bytes (`:W&B`, magic, version) in front.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

BLOCK = 32768
PIECE_HEADER = struct.Struct("<IHB")
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4
_TYPE_SUMS = [zlib.crc32(bytes([kind])) for kind in range(5)]


@dataclass
class LogReader:
    """Cuts `stream` into records. Iterate once; then read the counts."""

    stream: io.BufferedIOBase
    damaged: int = 0
    """Blocks whose rest was skipped because a piece in them was damaged, and records left without an end."""
    first_damage: int = -1
    cut_at: int = -1
    """Offset of the last piece when the file ends inside a record."""

    def __iter__(self) -> Iterator[bytes]:
        pending: list[bytes] | None = None  # the pieces of a record whose last one has not come
        at = 0
        for at, kind, data in self._pieces():
            if (pending is not None and kind in {FULL, FIRST}) or (pending is None and kind in {MIDDLE, LAST}):
                self._damage(at)
            if kind == FULL:
                yield data
            elif kind == LAST and pending is not None:
                yield b"".join([*pending, data])
            elif kind == MIDDLE and pending is not None:
                pending.append(data)
                continue
            pending = [data] if kind == FIRST else None
        if pending is not None and self.cut_at < 0:
            self.cut_at = at

    def _pieces(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield the offset, type and data of each sound piece; type 0 stands for one that was skipped."""
        offset = 0
        while block := self.stream.read(BLOCK):
            at = 7 if offset == 0 else 0  # the file header takes the place of the first bytes
            while at + PIECE_HEADER.size <= len(block):
                checksum, length, kind = PIECE_HEADER.unpack_from(block, at)
                end = at + PIECE_HEADER.size + length
                if end > len(block) and len(block) < BLOCK:
                    break
                data = block[at + PIECE_HEADER.size : end]
                if not self._sound(checksum, kind, data, end <= len(block)):
                    if any(block[at:]):  # a block may be filled up with zeros
                        self._damage(offset + at)
                        yield offset + at, 0, b""
                    at = len(block)
                    break
                yield offset + at, kind, data
                at = end
            if at < len(block) < BLOCK:
                self.cut_at = offset + at
            offset += len(block)

    @staticmethod
    def _sound(checksum: int, kind: int, data: bytes, fits: bool) -> bool:
        return fits and FULL <= kind <= LAST and zlib.crc32(data, _TYPE_SUMS[kind]) == checksum

    def _damage(self, place: int) -> None:
        self.first_damage = place if self.first_damage < 0 else self.first_damage
        self.damaged += 1
