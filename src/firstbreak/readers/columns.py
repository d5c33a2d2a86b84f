"""Columns of numbers grown from blocks of rows, in bounded memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..series import Floats

MAX_VALUES = 50_000_000
"""Numbers kept of one file (with their row numbers 800 MB); beyond that long columns keep every second point."""
BLOCK_VALUES = 262_144
MAX_TEXT = 20_000
_WORDS = {"true": 1.0, "false": 0.0}
_PLAIN = frozenset({float, int})
Rows = NDArray[np.int64]


def as_number(cell: Any) -> float | None:
    """Return the number that `cell` holds or spells, else None."""
    try:
        return float(cell)
    except (TypeError, ValueError):
        pass
    except OverflowError:  # an integer beyond the range of a float
        return float("inf") if cell > 0 else float("-inf")
    if not isinstance(cell, str):
        return None
    word = cell.strip().lower()
    if word in _WORDS:
        return _WORDS[word]
    if len(word) > 9 and word[4:5] == "-" and word[:4].isdigit():
        try:
            return datetime.fromisoformat(cell.strip()).timestamp()
        except (ValueError, OverflowError, OSError):
            return None
    return None


def numbers(cells: Sequence[Any]) -> tuple[Floats, Rows | None, str]:
    """Return the numbers [m] among `cells` [n], their places [m] (None for all of them), and the last text.

    An empty cell, `null` and a text are no number; `nan` and `inf` are.
    """
    try:
        return np.fromiter(map(float, cells), np.float64, len(cells)), None, ""
    except (TypeError, ValueError, OverflowError):
        pass
    places = [i for i, cell in enumerate(cells) if cell is not None and cell != ""]
    try:
        found = np.fromiter((float(cells[i]) for i in places), np.float64, len(places))
        return found, np.array(places, dtype=np.int64), ""
    except (TypeError, ValueError, OverflowError):
        pass
    kept: list[int] = []
    values: list[float] = []
    text = ""
    for i in places:
        number = as_number(cells[i])
        if number is not None:
            kept.append(i)
            values.append(number)
        elif isinstance(cells[i], str):
            text = cells[i]
    return np.array(values, dtype=np.float64), np.array(kept, dtype=np.int64), text[:MAX_TEXT]


@dataclass
class _Block:
    """Rows on end under the same keys; `start` is the number of the first."""

    keys: tuple[str, ...]
    start: int
    cells: list[Sequence[Any]] = field(default_factory=list[Sequence[Any]])

    @property
    def plain(self) -> bool:
        """Whether every cell is a number as it stands."""
        return len(set(self.keys)) == len(self.keys) and all(_PLAIN.issuperset(map(type, row)) for row in self.cells)


def _columns_of(blocks: Sequence[_Block]) -> dict[str, tuple[Rows, Floats]]:
    """Return the rows [m] and numbers [m] of each key of plain `blocks`, all blocks of one layout taken at once.

    Raises:
        OverflowError: an integer is beyond the range of a float.
    """
    layouts: dict[tuple[str, ...], list[_Block]] = {}
    for block in blocks:
        layouts.setdefault(block.keys, []).append(block)
    parts: dict[str, list[tuple[Rows, Floats]]] = {}
    for keys, alike in layouts.items():
        rows = np.concatenate([np.arange(b.start, b.start + len(b.cells)) for b in alike])
        table = np.ascontiguousarray(np.array([row for b in alike for row in b.cells], dtype=np.float64).T)
        for key, values in zip(keys, table, strict=True):
            parts.setdefault(key, []).append((rows, values))
    return {key: _in_order(parts[key]) for key in dict.fromkeys(key for block in blocks for key in block.keys)}


def _in_order(parts: Sequence[tuple[Rows, Floats]]) -> tuple[Rows, Floats]:
    """Return the rows and numbers of `parts` by row: layouts may alternate."""
    if len(parts) == 1:
        return parts[0]
    rows = np.concatenate([rows for rows, _ in parts])
    order = np.argsort(rows)
    return rows[order], np.concatenate([values for _, values in parts])[order]


@dataclass
class _Column:
    rows: list[Rows] = field(default_factory=list[Rows])
    values: list[Floats] = field(default_factory=list[Floats])
    size: int = 0
    seen: int = 0
    stride: int = 1

    def add(self, rows: Rows, values: Floats) -> None:
        if self.stride > 1:
            keep = np.arange(self.seen, self.seen + values.size) % self.stride == 0
            self.seen += values.size
            rows, values = rows[keep], values[keep]
        else:
            self.seen += values.size
        self.rows.append(rows)
        self.values.append(values)
        self.size += values.size

    def joined(self) -> tuple[Rows, Floats]:
        if len(self.values) > 1:
            self.rows, self.values = [np.concatenate(self.rows)], [np.concatenate(self.values)]
        return self.rows[0], self.values[0]

    def halve(self) -> None:
        rows, values = self.joined()
        self.rows, self.values, self.stride = [rows[::2].copy()], [values[::2].copy()], self.stride * 2
        self.size = self.values[0].size


class Columns:
    """Columns by key. Rows are given as lists of cells under a tuple of keys; sparse columns keep their row numbers."""

    def __init__(self, limit: int = MAX_VALUES) -> None:
        self.rows = 0
        self.texts: dict[str, str] = {}
        self._limit = limit
        self._size = 0
        self._columns: dict[str, _Column] = {}
        self._blocks: list[_Block] = []
        self._waiting = 0
        """Cells of the blocks that wait."""

    def add(self, keys: tuple[str, ...], cells: Sequence[Any]) -> None:
        """Add one row: `cells` [n] under `keys` [n]."""
        if not self._blocks or self._blocks[-1].keys != keys:
            self._blocks.append(_Block(keys, self.rows))
        self._blocks[-1].cells.append(cells)
        self.rows += 1
        self._waiting += len(keys)
        if self._waiting >= BLOCK_VALUES:
            self.flush()

    def add_block(self, size: int, block: Mapping[str, tuple[Floats, Rows | None]]) -> None:
        """Add `size` rows of numbers at once: for each key its numbers [m] and their rows [m] (None for every row)."""
        self.flush()
        rows = np.arange(self.rows, self.rows + size)
        self.rows += size
        for key, (values, places) in block.items():
            self._grow(key, rows if places is None else rows[places], values)
        self._bound()

    def _grow(self, key: str, rows: Rows, values: Floats) -> None:
        if values.size:
            column = self._columns.setdefault(key, _Column())
            before = column.size
            column.add(rows, values)
            self._size += column.size - before

    def _bound(self) -> None:
        while self._size > self._limit:
            self._thin()

    def flush(self) -> None:
        """Turn the rows that wait into numbers."""
        blocks, self._blocks, self._waiting = self._blocks, [], 0
        if all(block.plain for block in blocks):
            try:
                found = _columns_of(blocks)
            except OverflowError:
                pass
            else:
                for key, (rows, values) in found.items():
                    self._grow(key, rows, values)
                self._bound()
                return
        for block in blocks:
            self._take(block)

    def _take(self, block: _Block) -> None:
        """Turn the rows of one block into numbers; cells may be texts or empty."""
        rows = np.arange(block.start, block.start + len(block.cells))
        for key, cells in zip(block.keys, zip(*block.cells, strict=True), strict=True):
            values, places, text = numbers(cells)
            if text:
                self.texts[key] = text
            self._grow(key, rows if places is None else rows[places], values)
        self._bound()

    def _thin(self) -> None:
        most = max(column.size for column in self._columns.values())
        for column in self._columns.values():
            if column.size > most // 2:
                before = column.size
                column.halve()
                self._size += column.size - before

    @property
    def thinned(self) -> int:
        """How many points of the longest columns stand for one that was kept; 1 when all were kept."""
        return max((column.stride for column in self._columns.values()), default=1)

    @property
    def keys(self) -> list[str]:
        """The keys that hold numbers, in the order in which they came."""
        return list(self._columns)

    def column(self, key: str) -> tuple[Rows, Floats]:
        """Return the row numbers [n] and the numbers [n] under `key`."""
        return self._columns[key].joined()

    def filled(self, key: str) -> Floats:
        """Return the numbers under `key` for every row [rows], the last known one where a row has none."""
        rows, values = self.column(key)
        place = np.searchsorted(rows, np.arange(self.rows), side="right") - 1
        return values[np.maximum(place, 0)]
