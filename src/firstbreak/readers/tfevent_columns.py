"""Scalars of an event file, decoded many records at a time.

Records of one length that carry one tag have the same bytes everywhere but in the wall time, the step and the number.
The first of them is decoded with care and becomes a `Template`; the others are compared with it byte by byte and their
three numbers are gathered in numpy. What does not match any template takes the careful way, one record at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..series import Floats
from .crc32c import Bytes, masked_rows
from .protowire import WireError
from .tfevent_message import Event, Value, parse_event
from .tfevent_template import Template, learn, single_value, steps, summary_position
from .tfevents import Block, Positions, unaligned

LONGEST_ROW = 256
"""Longer records (texts, images, graphs) are looked at one by one."""
FEWEST_ROWS = 8
"""Fewer records than this are quicker one by one."""

Index = NDArray[np.intp]


@dataclass
class Piece:
    """Points of one tag from one block, in file order once sorted by `at` [n] (where the record starts)."""

    at: Positions
    wall: Floats
    step: NDArray[np.int64]
    value: NDArray[Any]


@dataclass
class Columns:
    """Collects the points of every tag; `others` hears of every value that is not a scalar."""

    verify: bool = False
    points: dict[str, list[Piece]] = field(default_factory=dict[str, list[Piece]])
    unread: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """For each kind of value that is not read, the tags that hold it."""
    others: list[Value] = field(default_factory=list[Value])
    corrupt: list[int] = field(default_factory=list[int])
    """File offsets of records whose data fails its checksum."""
    foreign: int = 0
    """Records with a right checksum that are not events."""
    _templates: dict[tuple[int, bytes], Template | None] = field(
        default_factory=dict[tuple[int, bytes], Template | None]
    )
    _block: dict[str, list[Piece]] = field(default_factory=dict[str, list[Piece]])
    _single: dict[str, list[tuple[int, float, int, float]]] = field(
        default_factory=dict[str, list[tuple[int, float, int, float]]]
    )

    def add(self, block: Block) -> None:
        """Take every record of `block`."""
        for length, index in _by_value(block.lengths):
            if index.size < FEWEST_ROWS or length > LONGEST_ROW:
                self._each(block, index)
            elif length:
                self._rows(block, length, index)
        self._flush()

    def _rows(self, block: Block, length: int, index: Index) -> None:
        """Take the records `index` [n], all `length` bytes long."""
        width = -(-length // 8) * 8
        starts = block.starts[index]
        rows: Bytes = unaligned(block.data, f"V{width}")[starts].view(np.uint8).reshape(-1, width)
        right = masked_rows(rows, length) == unaligned(block.data, "<u4")[starts + length]
        if not right.all():
            self.corrupt.extend((block.offset + starts[~right]).tolist())
            rows, index = rows[right], index[right]
        for summary_at, chosen in _by_value(summary_position(rows, length)):
            if summary_at + 8 > length:
                self._each(block, index[chosen])
                continue
            # These eight bytes hold the field keys and lengths before the tag, so they fix where the tag lies.
            keys = np.ascontiguousarray(rows[chosen, summary_at : summary_at + 8]).view(np.uint64).ravel()
            for group in _clusters(keys):
                self._prefix_group(block, rows, index, chosen[group], (length, summary_at))

    def _prefix_group(self, block: Block, rows: Bytes, index: Index, chosen: Index, shape: tuple[int, int]) -> None:
        """Take rows `chosen` [n], whose tags lie at the same place, tag by tag."""
        length, summary_at = shape
        event = single_value(rows[chosen[0], :length].tobytes()) if chosen.size >= FEWEST_ROWS else None
        if event is None:
            self._each(block, index[chosen])
            return
        span = event.values[0].tag_span
        for group in _clusters(_hashes(rows, chosen, span)):
            same = chosen[group]
            if same.size < FEWEST_ROWS:
                self._each(block, index[same])
                continue
            first = rows[same[0], :length].tobytes()
            key = (length, first[summary_at : span[1]])
            if key not in self._templates:
                self._templates[key] = learn(first)
            template = self._templates[key]
            left = same if template is None else self._match(block, rows, index, same, template)
            self._each(block, index[left])

    def _match(self, block: Block, rows: Bytes, index: Index, same: Index, template: Template) -> Index:
        """Take the rows that agree with `template`; return those that do not."""
        words = rows[same].view(np.uint64)
        differs = np.zeros(len(words), dtype=np.uint64)
        for column in np.flatnonzero(template.keep):
            differs |= (words[:, column] ^ template.ones[column]) & template.keep[column]
        left = np.flatnonzero(differs)
        if left.size:
            words = words[differs == 0]
            index = index[same[differs == 0]]
        else:
            index = index[same]
        if template.numbers is None:
            self.unread.setdefault(template.kind, set()).add(template.tag)
        elif len(words):
            found = words.view(template.numbers).ravel()
            step = steps(words.view(np.uint8), template.step_span)
            piece = Piece(block.starts[index], found["wall"].copy(), step, found["value"].copy())
            self._block.setdefault(template.tag, []).append(piece)
        return same[left]

    def _each(self, block: Block, index: Index) -> None:
        """Take records one by one."""
        for record in index.tolist():
            data = block.record(record)
            place = block.offset + int(block.starts[record])
            try:
                event = parse_event(data)
            except WireError:
                event = None
            # Long values that are not read are summed once a tag, unless every checksum is asked for.
            skip = event is not None and not self.verify and self._only_unread(event)
            if not skip and not block.intact(record):
                self.corrupt.append(place)
            elif event is None:
                self.foreign += 1
            else:
                self._take(int(block.starts[record]), event)

    def _only_unread(self, event: Event) -> bool:
        return bool(event.values) and all(value.tag in self.unread.get(value.kind, ()) for value in event.values)

    def _take(self, at: int, event: Event) -> None:
        for value in event.values:
            if value.kind == "scalar":
                self._single.setdefault(value.tag, []).append((at, event.wall, event.step, value.number))
            elif value.kind == "text" or value.plugin == "hparams":
                self.others.append(value)
            else:
                self.unread.setdefault(value.kind, set()).add(value.tag)

    def _flush(self) -> None:
        """Close the block: bring each tag's points into file order."""
        for tag, singles in self._single.items():
            at, wall, step, value = zip(*singles, strict=True)
            piece = Piece(
                np.array(at), np.array(wall), np.array(step, dtype=np.int64), np.array(value, dtype=np.float64)
            )
            self._block.setdefault(tag, []).append(piece)
        for tag, pieces in self._block.items():
            self.points.setdefault(tag, []).append(_in_file_order(pieces))
        self._single, self._block = {}, {}


def _in_file_order(pieces: list[Piece]) -> Piece:
    """Join the pieces of one block; the places are needed no longer."""
    nowhere = np.zeros(0, dtype=np.int64)
    at = np.concatenate([piece.at for piece in pieces])
    if len(pieces) == 1 and (at[1:] > at[:-1]).all():
        only = pieces[0]
        return Piece(nowhere, only.wall, only.step, only.value)
    # Several values of one tag in one record stand at the same place: a stable sort keeps their order.
    order = np.argsort(at, kind="stable")
    return Piece(
        nowhere,
        np.concatenate([piece.wall for piece in pieces])[order],
        np.concatenate([piece.step for piece in pieces])[order],
        np.concatenate([piece.value for piece in pieces])[order],
    )


def _hashes(rows: Bytes, chosen: Index, span: tuple[int, int]) -> NDArray[np.uint64]:
    """Return a hash [n] of the columns `span` of the rows `chosen` [n]; equal tags have equal hashes."""
    lo, hi = span
    words = -(-(hi - lo) // 8)
    padded: Bytes = np.zeros((chosen.size, words * 8), dtype=np.uint8)
    padded[:, : hi - lo] = rows[chosen, lo:hi]
    columns = padded.view(np.uint64)
    total = np.zeros(chosen.size, dtype=np.uint64)
    for word in range(words):
        total = (total ^ columns[:, word]) * np.uint64(0x9E3779B97F4A7C15)
        total ^= total >> np.uint64(29)
    return total


def _by_value(values: Positions) -> Iterator[tuple[int, Index]]:
    """Yield each distinct value with the positions that hold it, in order."""
    if values.size and (values == values[0]).all():
        yield int(values[0]), np.arange(values.size)
        return
    order = np.argsort(values, kind="stable")
    for group in _runs(values[order], order):
        yield int(values[group[0]]), group


def _clusters(keys: NDArray[np.uint64]) -> Iterator[Index]:
    """Yield the positions [n] of equal keys, in order. Unequal keys may, rarely, share a cluster."""
    if (keys == keys[0]).all():
        yield np.arange(keys.size)
        return
    folded = keys * np.uint64(0x9E3779B97F4A7C15)
    short = (folded >> np.uint64(48)).astype(np.uint16)  # numpy sorts 16-bit keys by radix, stably
    order = np.argsort(short, kind="stable")
    yield from _runs(short[order], order)


def _runs(ordered: NDArray[Any], order: Index) -> Iterator[Index]:
    edges = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    yield from np.split(order, edges)
