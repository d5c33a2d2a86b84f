"""What all records of one tag and one length have in common, and how their three numbers are gathered.

A record that differs from its template in any other bit is not taken for one of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .crc32c import Bytes
from .protowire import WireError
from .tfevent_message import Event, Value, parse_event
from .tfevents import Positions


@dataclass(frozen=True)
class Template:
    """Where the numbers of one tag lie in records of one length, and which bits are the same in all of them.

    `ones` and `keep` [words] are the expected words and the mask of the bits that must agree. `numbers` is the
    structured type that finds wall time and value; None for what is only counted (`kind` says what it is).
    """

    tag: str
    kind: str
    ones: NDArray[np.uint64]
    keep: NDArray[np.uint64]
    numbers: np.dtype[np.void] | None
    step_span: tuple[int, int]


def learn(first: bytes) -> Template | None:
    """Make the template of the records that look like `first`; None where they must be decoded one by one."""
    event = single_value(first)
    if event is None:
        return None
    value = event.values[0]
    if value.kind == "text" or value.plugin == "hparams":
        return None
    if value.kind == "scalar":
        return _scalar_template(first, event, value) if value.number_at >= 0 else None
    keep: Bytes = np.zeros(-(-len(first) // 8) * 8, dtype=np.uint8)
    keep[value.tag_span[0] - 1 : value.tag_span[1] + 1] = 0xFF  # the tag, and the key of the field after it
    return _template(first, keep, value, None, (0, 0))


def single_value(first: bytes) -> Event | None:
    """Return the event in `first` if it begins with its wall time and holds exactly one tagged value."""
    try:
        event = parse_event(first)
    except WireError:
        return None
    return event if len(event.values) == 1 and event.wall_at == 1 and event.values[0].tag else None


def _scalar_template(first: bytes, event: Event, value: Value) -> Template:
    width = -(-len(first) // 8) * 8
    keep: Bytes = np.zeros(width, dtype=np.uint8)
    keep[: len(first)] = 0xFF
    keep[1:9] = 0
    size = np.dtype(value.number_type).itemsize
    keep[value.number_at : value.number_at + size] = 0
    span = event.step_span or (0, 0)
    keep[span[0] : span[1]] = 0x80  # whether the varint goes on, which fixes its width
    numbers = np.dtype(
        {
            "names": ["wall", "value"],
            "formats": ["<f8", value.number_type],
            "offsets": [1, value.number_at],
            "itemsize": width,
        }
    )
    return _template(first, keep, value, numbers, span)


def _template(
    first: bytes, keep: Bytes, value: Value, numbers: np.dtype[np.void] | None, span: tuple[int, int]
) -> Template:
    ones = np.frombuffer(first.ljust(keep.size, b"\0"), dtype=np.uint64)
    return Template(value.tag, value.kind, ones, keep.view(np.uint64), numbers, span)


def steps(rows: Bytes, span: tuple[int, int]) -> NDArray[np.int64]:
    """Return the varints [n] in the columns `span` as int64; an empty span is step 0."""
    total = np.zeros(len(rows), dtype=np.uint64)
    for shift, column in enumerate(range(*span)):
        total |= (rows[:, column] & np.uint8(0x7F)).astype(np.uint64) << np.uint64(7 * shift)
    return total.view(np.int64)


def summary_position(rows: Bytes, length: int) -> Positions:
    """Return where the summary begins in each row [n], or `length` where the record does not begin as usual.

    The usual record begins with the wall time (key and 8 bytes) and, unless the step is 0, the step (key and varint).
    """
    if length < 20:
        return np.full(len(rows), length, dtype=np.int64)
    going = rows[:, 9] == 0x10
    position: Positions = np.where(going, 11, 9).astype(np.int64)
    for column in range(10, 19):
        going = going & (rows[:, column] >= 0x80)
        if not going.any():
            break
        position += going
    position[rows[:, 0] != 0x09] = length
    return position
