"""The protocol-buffer wire format, read field by field without a schema.

Reference: Protocol Buffers documentation, "Encoding". Groups (wire types 3 and 4) are deprecated and not accepted.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
_DOUBLE = struct.Struct("<d")


class WireError(ValueError):
    """The bytes are not a well-formed message."""


class Field(NamedTuple):
    """One field: its `number`, `wire` type, the varint's `value` (else 0) and where its payload lies, [lo, hi)."""

    number: int
    wire: int
    value: int
    lo: int
    hi: int


def varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Return the unsigned varint at `at` and the position after it."""
    value = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7
    raise WireError(f"unfinished varint at byte {at}")


def fields(data: bytes, lo: int, hi: int) -> Iterator[Field]:
    """Yield the fields of the message that fills `data[lo:hi]`."""
    at = lo
    while at < hi:
        key, at = varint(data, at, hi)
        wire = key & 7
        value, start = 0, at
        if wire == VARINT:
            value, end = varint(data, at, hi)
        elif wire == LENGTH:
            size, start = varint(data, at, hi)
            end = start + size
        elif wire == FIXED64:
            end = at + 8
        elif wire == FIXED32:
            end = at + 4
        else:
            raise WireError(f"wire type {wire} at byte {at}")
        if end > hi or key < 8:
            raise WireError(f"field {key >> 3} at byte {at} does not fit its message")
        yield Field(key >> 3, wire, value, start, end)
        at = end


def signed(value: int) -> int:
    """Return the int64 that an unsigned varint `value` stands for."""
    return value - (1 << 64) if value >= 1 << 63 else value


def zigzag(value: int) -> int:
    """Return the sint64 that a zigzag-coded `value` stands for."""
    return (value >> 1) ^ -(value & 1)


def text(data: bytes, item: Field) -> str:
    """Return a length-delimited field as text; bytes that are not UTF-8 become replacement characters."""
    return data[item.lo : item.hi].decode("utf-8", "replace") if item.wire == LENGTH else ""


def double(data: bytes, item: Field) -> float:
    """Return a fixed 64-bit field as a number."""
    if item.wire != FIXED64:
        raise WireError(f"field {item.number} is not a double")
    return _DOUBLE.unpack_from(data, item.lo)[0]
