"""Writes small event files and W&B run files for the tests of their readers."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable

from firstbreak.readers.crc32c import crc32c, mask


def framed(data: bytes) -> bytes:
    """Return `data` as one record of an event file."""
    size = struct.pack("<Q", len(data))
    return size + struct.pack("<I", mask(crc32c(size))) + data + struct.pack("<I", mask(crc32c(data)))


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def nested(field: int, *parts: bytes | str) -> bytes:
    data = b"".join(part.encode() if isinstance(part, str) else part for part in parts)
    return varint(field << 3 | 2) + varint(len(data)) + data


def event(wall: float, step: int, *values: bytes) -> bytes:
    """Return an event with tagged `values` (see `simple`)."""
    steps = number(2, step) if step else b""
    return b"\x09" + struct.pack("<d", wall) + steps + nested(5, *(nested(1, value) for value in values))


def simple(tag: str, value: float) -> bytes:
    """Return a scalar in the plain encoding."""
    return nested(1, tag) + b"\x15" + struct.pack("<f", value)


def opening() -> bytes:
    return framed(b"\x09" + struct.pack("<d", 1.0) + nested(3, "brain.Event:2"))


def scalar_file(rows: Iterable[tuple[str, int, float]]) -> bytes:
    """Return an event file with one record for each (tag, step, value); wall time is 1000 + the record's number."""
    records = (framed(event(1000.0 + i, step, simple(tag, value))) for i, (tag, step, value) in enumerate(rows))
    return opening() + b"".join(records)


def wandb_file(records: Iterable[bytes]) -> bytes:
    """Return a `.wandb` file that holds `records`."""
    out = bytearray(b":W&B\xe1\xbe\x00")
    for record in records:
        rest, first = record, True
        while first or rest:
            room = 32768 - len(out) % 32768
            if room < 7:
                out += bytes(room)
                room = 32768
            piece, rest = rest[: room - 7], rest[room - 7 :]
            kind = (1 if not rest else 2) if first else (4 if not rest else 3)
            out += struct.pack("<IHB", zlib.crc32(bytes([kind]) + piece), len(piece), kind) + piece
            first = False
    return bytes(out)


def history(step: int, items: dict[str, str]) -> bytes:
    """Return a W&B history record whose values are JSON texts."""
    parts = [nested(1, nested(2, key), nested(16, value)) for key, value in items.items()]
    return nested(2, *parts, nested(2, number(1, step) if step else b""))


def metadata(plugin: str) -> bytes:
    """Return the metadata of a tagged value that belongs to `plugin`."""
    return nested(9, nested(1, nested(1, plugin)))


def tensor(dtype: int, *parts: bytes) -> bytes:
    return nested(8, number(1, dtype), nested(2), *parts)


ENCODINGS = {
    "float content": tensor(1, nested(4, struct.pack("<f", 2.5))),
    "float list": tensor(1, nested(5, struct.pack("<f", 2.5))),
    "float single": tensor(1, b"\x2d" + struct.pack("<f", 2.5)),
    "double content": tensor(2, nested(4, struct.pack("<d", 2.5))),
    "double list": tensor(2, nested(6, struct.pack("<d", 2.5))),
    "half content": tensor(19, nested(4, struct.pack("<e", 2.5))),
    "half list": tensor(19, nested(13, b"\x80\x82\x01")),
    "bfloat16 content": tensor(14, nested(4, struct.pack("<f", 2.5)[2:])),
}
WHOLE = {
    "int content": tensor(3, nested(4, struct.pack("<i", -3))),
    "int list": tensor(3, nested(7, b"\xfd" + b"\xff" * 8 + b"\x01")),
    "int64 list": tensor(9, nested(10, b"\xfd" + b"\xff" * 8 + b"\x01")),
}
