"""CRC-32C (Castagnoli), as event files use it: masked, over the length and over the data of a record.

CRC is linear over GF(2), so a byte adds to the checksum by its value and by how many bytes follow it; many records of
one length are therefore summed column by column in numpy. Polynomial: RFC 3720, appendix B.4; masking: TensorFlow,
`tensorflow/core/lib/hash/crc32c.h`.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Sums = NDArray[np.uint32]

POLYNOMIAL = 0x82F63B78
MASK_DELTA = 0xA282EAD8
ALL_ONES = 0xFFFFFFFF
BLOCK = 256
"""Bytes of a long record that are summed as one row."""


def _byte_table() -> list[int]:
    table: list[int] = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ (POLYNOMIAL if crc & 1 else 0)
        table.append(crc)
    return table


_TABLE = _byte_table()
_TABLE_ARRAY: Sums = np.array(_TABLE, dtype=np.uint32)
_shifted: list[Sums] = [_TABLE_ARRAY]


def _weights(following: int) -> Sums:
    """Return what each byte value [256] adds to the sum when `following` bytes come after it."""
    while len(_shifted) <= following:
        last = _shifted[-1]
        _shifted.append(_TABLE_ARRAY[last & 0xFF] ^ (last >> np.uint32(8)))
    return _shifted[following]


@lru_cache(maxsize=8192)
def _start(length: int) -> int:
    """Return what the all-ones start value has become after `length` zero bytes."""
    crc = ALL_ONES
    for _ in range(length):
        crc = _TABLE[crc & 0xFF] ^ (crc >> 8)
    return crc


def _raw_rows(rows: Bytes, length: int) -> Sums:
    """Return the sums [n] of the first `length` columns of `rows` [n, >= length], from a start value of zero."""
    total: Sums = np.zeros(len(rows), dtype=np.uint32)
    for column in range(length):
        total ^= _weights(length - 1 - column)[rows[:, column]]
    return total


def mask(crc: int) -> int:
    """Return the masked form in which a checksum is stored."""
    return (((crc >> 15) | (crc << 17)) + MASK_DELTA) & ALL_ONES


def _mask_array(crc: Sums) -> Sums:
    return ((crc >> np.uint32(15)) | (crc << np.uint32(17))) + np.uint32(MASK_DELTA)


def crc32c(data: bytes | bytearray | memoryview) -> int:
    """Return the plain CRC-32C of `data`."""
    if len(data) > 4 * BLOCK:
        return _long(np.frombuffer(data, dtype=np.uint8))
    crc = ALL_ONES
    table = _TABLE
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ ALL_ONES


def _long(data: Bytes) -> int:
    first = data[:4] ^ np.uint8(0xFF)  # the all-ones start value, folded into the data
    # Zeros in front do not change a sum that starts at zero.
    padded: Bytes = np.zeros(-(-data.size // BLOCK) * BLOCK, dtype=np.uint8)
    padded[padded.size - data.size :] = data
    padded[padded.size - data.size : padded.size - data.size + 4] = first
    sums: list[int] = _raw_rows(padded.reshape(-1, BLOCK), BLOCK).tolist()
    tables = [_weights(BLOCK - 1 - byte).tolist() for byte in range(4)]
    t0, t1, t2, t3 = tables
    crc = 0
    for row in sums:
        crc = t0[crc & 0xFF] ^ t1[(crc >> 8) & 0xFF] ^ t2[(crc >> 16) & 0xFF] ^ t3[crc >> 24] ^ row
    return crc ^ ALL_ONES


def masked_rows(rows: Bytes, length: int) -> Sums:
    """Return the masked checksums [n] of `rows` [n, >= length], each `length` bytes long."""
    return _mask_array(_raw_rows(rows, length) ^ np.uint32(_start(length) ^ ALL_ONES))


_LENGTH_START = np.uint32(_start(8) ^ ALL_ONES)


def masked_lengths(lengths: NDArray[np.uint64]) -> Sums:
    """Return the masked checksums [n] of 64-bit little-endian `lengths` [n]."""
    columns = np.ascontiguousarray(lengths, dtype="<u8").view(np.uint8).reshape(-1, 8)
    total: Sums = np.zeros(lengths.size, dtype=np.uint32)
    for column in range(8):
        byte: NDArray[Any] = columns[:, column]
        if column < 2 or byte.any():  # a zero byte adds nothing
            total ^= _weights(7 - column)[byte]
    return _mask_array(total ^ _LENGTH_START)


def masked_length(length: int) -> int:
    """Return the masked checksum of one 64-bit little-endian `length`."""
    return mask(crc32c(struct.pack("<Q", length)))
