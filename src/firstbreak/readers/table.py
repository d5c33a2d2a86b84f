"""Tables in text: CSV and TSV with a header, as any logger or spreadsheet writes them, Spinning Up's `progress.txt` and
PFRL's `scores.txt` among them."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from ..errors import InputError
from ..runlog import Problem, Recording
from .columns import Columns, as_number
from .exports import plainly_named
from .protocol import Options, Reader
from .step_axis import names_step, recording_of
from .textfile import TextFile, head_lines

ENDINGS = frozenset({".csv", ".tsv"})
TABBED = frozenset({".txt"})
"""Endings of a table only where tabs part its cells: a comma in a text is no table."""
DELIMITERS = ",\t;|"
CSV_FIELD = 1 << 26
_COMMA = re.compile(r"\s*[-+]?\d*,\d+(?:[eE][-+]?\d+)?\s*")
"""A number with a decimal comma, as spreadsheets of many countries write it."""


def pointed(cells: list[str]) -> list[str]:
    """Return `cells` with decimal points for decimal commas; where a comma parts cells there are none."""
    return [cell.replace(",", ".") if _COMMA.fullmatch(cell) else cell for cell in cells]


def delimiter_of(header: str) -> str:
    """Return the delimiter that splits `header` into most cells; a comma where none does."""
    best = max(DELIMITERS, key=header.count)
    return best if best in header else ","


def split(line: str, delimiter: str) -> list[str]:
    """Return the cells of one line."""
    try:
        return next(csv.reader([line], delimiter=delimiter), list[str]())
    except csv.Error:
        return []


def sniff(path: Path) -> float:
    """Say how surely `path` is a table of metrics: a header, then numbers; a step column makes it likely."""
    ending = path.suffix.lower()
    if ending not in ENDINGS | TABBED:
        return 0.0
    lines = [line for line in head_lines(path) if line.strip() and not line.startswith("#")]
    if ending in TABBED and not _tabbed(lines):
        return 0.0
    if len(lines) < 2:
        return 0.3 if lines and "," in lines[0] else 0.0
    delimiter = delimiter_of(lines[0])
    header, row = split(lines[0], delimiter), split(lines[1], delimiter)
    row = row if delimiter == "," else pointed(row)
    if _nameless(header):
        return 0.0
    if not any(as_number(cell) is not None for cell in row):
        return 0.1
    return 0.6 if any(map(names_step, header)) else 0.3


def _nameless(header: list[str]) -> bool:
    return all(as_number(cell) is not None for cell in header if cell)


def lacks_header(path: Path) -> bool:
    """Whether `path` is a table that begins with numbers: nothing says what its columns are."""
    if path.suffix.lower() not in ENDINGS:
        return False
    lines = [line for line in head_lines(path) if line.strip() and not line.startswith("#")]
    return len(lines) > 1 and _nameless(split(lines[0], delimiter_of(lines[0])))


def _tabbed(lines: list[str]) -> bool:
    """Whether `lines` begin with a header of three names or more and a row of as many numbers, parted by tabs."""
    if len(lines) < 2:
        return False
    header, row = lines[0].split("\t"), lines[1].split("\t")
    return len(row) == len(header) > 2 and all(as_number(cell.strip()) is not None for cell in row)


def read(path: Path, options: Options) -> Recording:
    """Read a table whose first line is its header."""
    columns, problems = read_columns(path, options)
    found = recording_of(columns, path, READER.name)
    found.curves = plainly_named(found.curves, path)
    return finish(found, problems, path)


def finish(found: Recording, problems: list[Problem], path: Path) -> Recording:
    """Add `problems` to a recording made of the table `path`; raise when it holds no number at all."""
    found.problems.extend(problems)
    if not found.curves:
        raise InputError(
            f"{path}: no numbers in it.",
            "A table of metrics has a header line with the names and one row of numbers a step.",
        )
    return found


def read_columns(path: Path, options: Options) -> tuple[Columns, list[Problem]]:
    """Return the columns of a table and what was wrong with it."""
    text = TextFile(path, options)
    columns = Columns()
    problems: list[Problem] = []
    ragged = 0
    keys: tuple[str, ...] = ()
    raw: list[str] = []
    rows = _rows(text, path, problems)
    for cells in rows:
        if not keys:
            raw, keys = cells, unique(cells)
        elif len(cells) == len(keys) and (cells[0] != raw[0] or cells != raw):
            columns.add(keys, cells)
        elif cells and len(cells) != len(keys):
            if cells[0] == raw[0] and as_number(cells[0]) is None:  # a second header: the file was appended to
                raw, keys = cells, unique(cells)
                continue
            ragged += 1
            columns.add(keys, (cells + [""] * len(keys))[: len(keys)])
    if ragged:
        what = f"{ragged} rows have more or fewer cells than the header; what fits was kept."
        problems.append(Problem(str(path), "", what))
    columns.flush()
    return columns, problems + text.problems()


def unique(names: list[str]) -> tuple[str, ...]:
    """Return column `names` with repeats told apart and empty ones named by their place."""
    seen: dict[str, int] = {}
    found: list[str] = []
    for place, name in enumerate(names):
        key = name.strip() or f"column {place + 1}"
        seen[key] = seen.get(key, 0) + 1
        found.append(key if seen[key] == 1 else f"{key} ({seen[key]})")
    return tuple(found)


def _rows(text: TextFile, path: Path, problems: list[Problem]) -> Iterator[list[str]]:
    """Yield the cells of each line that is not blank or a comment."""
    lines = (line for line in text if line.strip() and line[0] != "#")
    first = next(lines, "")
    if not first:
        return
    csv.field_size_limit(min(CSV_FIELD, sys.maxsize))
    delimiter = delimiter_of(first)
    tidy = list[str] if delimiter == "," else pointed
    yield split(first.rstrip("\r\n"), delimiter)
    reader = csv.reader(lines, delimiter=delimiter)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problems.append(Problem(str(path), f"line {text.number}", f"not a table row ({error}); passed over."))
            if len(problems) > 20:
                return
            continue
        yield tidy(cells)


READER = Reader("table", "CSV or TSV table", sniff, read, rank=40)
