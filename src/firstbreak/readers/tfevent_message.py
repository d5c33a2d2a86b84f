"""One event of an event file, decoded with care: every encoding of a scalar, texts, hyper-parameters.

Field numbers: TensorFlow's `event.proto`, `summary.proto`, `tensor.proto` and TensorBoard's hparams
`plugin_data.proto`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .protowire import FIXED32, FIXED64, LENGTH, VARINT, Field, WireError, double, fields, signed, text, varint

DT_STRING = 7
CONTENT_DTYPES = {
    1: "<f4",
    2: "<f8",
    3: "<i4",
    4: "u1",
    5: "<i2",
    6: "i1",
    9: "<i8",
    10: "?",
    17: "<u2",
    19: "<f2",
    22: "<u4",
    23: "<u8",
}
"""TensorFlow's `DataType` numbers of real numbers, as numpy names them; bfloat16 (14) has no numpy type."""
BFLOAT16 = 14
PACKED_FIXED = {5: "<f4", 6: "<f8"}
PACKED_VARINT = (7, 10, 11, 13, 16, 17)
UNREAD_KINDS = {3: "histogram", 4: "image", 5: "histogram", 6: "audio clip"}


@dataclass
class Value:
    """One tagged value: `kind` is `scalar`, `text`, or what it is that is not read."""

    tag: str
    tag_span: tuple[int, int]
    kind: str = ""
    number: float = math.nan
    number_at: int = -1
    """Position of the number when it lies there plainly, in `number_type`; -1 otherwise."""
    number_type: str = ""
    text: str = ""
    plugin: str = ""
    content: bytes = b""


@dataclass
class Event:
    """One event: when, at which step, and its values; the spans are where those lie in the record."""

    wall: float = math.nan
    step: int = 0
    wall_at: int = -1
    step_span: tuple[int, int] | None = None
    values: list[Value] = field(default_factory=list[Value])
    version: str = ""


def parse_event(data: bytes) -> Event:
    """Decode one record. Raises `WireError` when it is not an event."""
    event = Event()
    for item in fields(data, 0, len(data)):
        if item.number == 1:
            event.wall, event.wall_at = double(data, item), item.lo
        elif item.number == 2 and item.wire == VARINT:
            event.step, event.step_span = signed(item.value), (item.lo, item.hi)
        elif item.number == 3:
            event.version = text(data, item)
        elif item.number == 5 and item.wire == LENGTH:
            for entry in fields(data, item.lo, item.hi):
                if entry.number == 1 and entry.wire == LENGTH:
                    event.values.append(_parse_value(data, entry))
    return event


def _parse_value(data: bytes, whole: Field) -> Value:
    value = Value(tag="", tag_span=(whole.lo, whole.lo))
    tensor: Field | None = None
    for item in fields(data, whole.lo, whole.hi):
        if item.number == 1:
            value.tag, value.tag_span = text(data, item), (item.lo, item.hi)
        elif item.number == 2 and item.wire == FIXED32:
            value.kind, value.number_at, value.number_type = "scalar", item.lo, "<f4"
            value.number = struct.unpack_from("<f", data, item.lo)[0]
        elif item.number == 8 and item.wire == LENGTH:
            tensor = item
        elif item.number == 9 and item.wire == LENGTH:
            value.plugin, value.content = _plugin(data, item)
        elif item.number in UNREAD_KINDS:
            value.kind = UNREAD_KINDS[item.number]
    if tensor is not None:
        _read_tensor(data, tensor, value)
    value.kind = value.kind or f"{value.plugin or 'empty'} value"
    return value


def _plugin(data: bytes, metadata: Field) -> tuple[str, bytes]:
    name, content = "", b""
    for item in fields(data, metadata.lo, metadata.hi):
        if item.number == 1 and item.wire == LENGTH:
            for part in fields(data, item.lo, item.hi):
                if part.number == 1:
                    name = text(data, part)
                elif part.number == 2 and part.wire == LENGTH:
                    content = data[part.lo : part.hi]
    return name, content


@dataclass
class _Tensor:
    dtype: int = 0
    single: bool = True
    content: Field | None = None
    numbers: Field | None = None
    strings: list[str] = field(default_factory=list[str])


def _parse_tensor(data: bytes, whole: Field) -> _Tensor:
    tensor = _Tensor()
    for item in fields(data, whole.lo, whole.hi):
        if item.number == 1 and item.wire == VARINT:
            tensor.dtype = item.value
        elif item.number == 2 and item.wire == LENGTH:
            for dim in fields(data, item.lo, item.hi):
                if dim.number == 2 and dim.wire == LENGTH:
                    sizes = [signed(part.value) for part in fields(data, dim.lo, dim.hi) if part.number == 1]
                    tensor.single &= sizes == [1]
        elif item.number == 4 and item.wire == LENGTH:
            tensor.content = item if item.hi > item.lo else None
        elif item.number == 8:
            tensor.strings.append(text(data, item))
        elif item.number in PACKED_FIXED or item.number in PACKED_VARINT:
            tensor.numbers = item
    return tensor


def _read_tensor(data: bytes, whole: Field, value: Value) -> None:
    tensor = _parse_tensor(data, whole)
    if tensor.dtype == DT_STRING:
        value.kind, value.text = "text", "\n".join(tensor.strings)
    elif tensor.single and value.plugin in {"", "scalars"}:
        place = _plain_number(tensor)
        if place is not None:
            value.number_at, value.number_type = place
            value.number = float(np.frombuffer(data, place[1], 1, place[0])[0])
            value.kind = "scalar"
        else:
            _read_odd_number(data, tensor, value)
    elif not value.plugin or value.plugin == "scalars":
        value.kind = "tensor"
    if value.plugin == "histograms":
        value.kind = "histogram"


def _plain_number(tensor: _Tensor) -> tuple[int, str] | None:
    """Say where the single number lies and its type, if it lies in the record as numpy would store it."""
    if tensor.content is not None:
        dtype = CONTENT_DTYPES.get(tensor.dtype, "")
        fits = dtype and tensor.content.hi - tensor.content.lo == np.dtype(dtype).itemsize
        return (tensor.content.lo, dtype) if fits else None
    item = tensor.numbers
    if item is None or item.number not in PACKED_FIXED or item.wire not in {LENGTH, FIXED32, FIXED64}:
        return None
    dtype = PACKED_FIXED[item.number]
    return (item.lo, dtype) if item.hi - item.lo == np.dtype(dtype).itemsize else None


def _read_odd_number(data: bytes, tensor: _Tensor, value: Value) -> None:
    """Read bfloat16 content and the numbers that are stored as varints."""
    value.kind = "tensor"
    item, content = tensor.numbers, tensor.content
    if content is not None and tensor.dtype == BFLOAT16 and content.hi - content.lo == 2:
        value.kind, value.number = "scalar", _bfloat16(int.from_bytes(data[content.lo : content.hi], "little"))
    elif item is not None and item.number in PACKED_VARINT and item.wire in {VARINT, LENGTH} and item.hi > item.lo:
        raw = item.value if item.wire == VARINT else varint(data, item.lo, item.hi)[0]
        value.kind = "scalar"
        if item.number == 13:
            value.number = _bfloat16(raw) if tensor.dtype == BFLOAT16 else _half(raw)
        else:
            value.number = float(raw if item.number in {16, 17} else signed(raw))


def _half(bits: int) -> float:
    return float(struct.unpack("<e", struct.pack("<H", bits & 0xFFFF))[0])


def _bfloat16(bits: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", (bits & 0xFFFF) << 16))[0])


def parse_hparams(content: bytes) -> tuple[dict[str, Any], int]:
    """Return the hyper-parameters in a hparams plugin's `content`, and its end status (0 unknown, 1 ok, 2 failed)."""
    config: dict[str, Any] = {}
    status = 0
    for item in fields(content, 0, len(content)):
        if item.wire != LENGTH:
            continue
        for part in fields(content, item.lo, item.hi):
            if item.number == 3 and part.number == 1 and part.wire == LENGTH:
                config.update(_hparam(content, part))
            elif item.number == 4 and part.number == 1 and part.wire == VARINT:
                status = part.value
    return config, status


def _hparam(content: bytes, entry: Field) -> Iterator[tuple[str, Any]]:
    name, value = "", None
    for item in fields(content, entry.lo, entry.hi):
        if item.number == 1:
            name = text(content, item)
        elif item.number == 2 and item.wire == LENGTH:
            for part in fields(content, item.lo, item.hi):
                if part.wire == FIXED64:
                    value = double(content, part)
                elif part.wire == LENGTH:
                    value = text(content, part)
                elif part.wire == VARINT:
                    value = bool(part.value)
    if name:
        yield name, value


__all__ = ["Event", "Value", "WireError", "parse_event", "parse_hparams"]
