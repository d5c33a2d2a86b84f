"""One JSON document, as `json.dump(history)` and pandas write it: a list of rows, columns of numbers under their names,
or either of them under a key of its own beside the settings."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from ..errors import InputError
from ..runlog import Problem, Recording
from .columns import Columns
from .jsonl import holds_samples
from .jsonrows import Row, flatten, objects_from
from .protocol import Options, Reader
from .run_config import NAMES as SETTINGS
from .run_config import flat_config, is_config
from .step_axis import BARE_NAMES, STEP_NAMES, plain, recording_of
from .textfile import head, modified, unreadable

MAX_BYTES = 1 << 30
DEPTH = 3
"""How deep below the document its rows or columns are looked for. Engineering default."""
LEAST = 3
"""Numbers on end from which on a list is a column of a log rather than a setting (the sizes of layers, say)."""
_SPACE = rb"[\s\xef\xbb\xbf]*"
_ROWS = re.compile(_SPACE + rb"\[\s*\{")
_NUMBER = rb"(?:-?\d[-+.\deE]*|NaN|-?Infinity|null)"
_COLUMN = re.compile(rb'"([^"\\]{1,200})"\s*:\s*\[\s*' + _NUMBER + rb"(?:\s*,\s*" + _NUMBER + rb"){%d}" % (LEAST - 1))
_BELOW = re.compile(
    rb'"(?:history|log_?history|logs?|metrics|rows|records|episodes|train(?:ing)?|results|data)"\s*:\s*\[\s*\{', re.I
)
"""Under what rows lie; other lists of objects are vocabularies, layers and the like."""
_PLACES = re.compile(rb'\{\s*"\d+"\s*:\s*(?:\{|' + _NUMBER + rb")")
"""`{"0": ...`: what pandas makes of a column, and a dictionary by step."""


def sniff(path: Path) -> float:
    """Say how surely `path` is such a document, from its first bytes; without a step it must be named itself."""
    if path.suffix.lower() != ".json":
        return 0.0
    start = head(path)
    below = _BELOW.search(start)
    if _ROWS.match(start):
        score = _of_rows(start, start.index(b"[") + 1)
    elif below is not None:
        score = _of_rows(start, below.end() - 1)
    else:
        names = [name.decode("utf-8", "replace") for name in _COLUMN.findall(start)]
        stepped = len(names) > 1 and any(plain(name) in STEP_NAMES for name in names)
        score = 0.6 if stepped else 0.3 if names or _PLACES.search(start) else 0.0
    return min(score, 0.3) if is_config(path) else score


def _of_rows(start: bytes, at: int) -> float:
    """Say how surely the list whose first entry begins at `at` holds rows of metrics."""
    rows = objects_from(start[at - 1 :].decode("utf-8", "ignore"), 1)
    row = cast(Row, rows[0]) if rows and isinstance(rows[0], dict) else {}
    if holds_samples(row):
        return 0.05
    numbers = [key for key, value in flatten(row).items() if isinstance(value, (int, float))]
    return 0.6 if any(plain(key) in STEP_NAMES for key in numbers) else 0.3 if numbers or not rows else 0.0


def read(path: Path, options: Options) -> Recording:
    """Read the rows or the columns, whichever the document holds more of."""
    text = _text(path, options)
    problems: list[Problem] = []
    document = _parse(text, path, problems)
    columns = Columns()
    rows = _rows(document, DEPTH)
    if rows:
        for row in rows:
            flat = flatten(row)
            if flat:
                columns.add(tuple(flat), list(flat.values()))
    else:
        _add(columns, _columns(document, "", DEPTH), path, problems)
    found = recording_of(columns, path, READER.name)
    if not found.curves:
        raise InputError(
            f"{path}: no rows of numbers in it.",
            'A JSON file of metrics is a list of rows, [{"step": 1, "loss": 0.5}, ...], or holds a list of numbers '
            'for each name, {"step": [1, 2], "loss": [0.5, 0.4]}.',
        )
    found.problems.extend(problems)
    found.config, found.modified = _settings(document), modified(path)
    return found


def _text(path: Path, options: Options) -> str:
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise InputError(
                f"{path}: {size} bytes are too many for one JSON document.", "Write one row a line (JSONL)."
            )
        text = path.read_text("utf-8-sig", "replace")
    except OSError as error:
        raise unreadable(path, error) from error
    options.progress(size, size)
    return text


def _parse(text: str, path: Path, problems: list[Problem]) -> Any:
    """Return the document; of a list that is cut off, the rows before the cut."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise InputError(f"{path}: nested too deeply.", "Write one row a line (JSONL).") from error
    except ValueError as error:
        rows = objects_from(text, text.index("[") + 1) if "[" in text else []
        if not rows:
            raise InputError(f"{path}: not JSON ({error}).", "Is it still being written?") from error
        where = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        problems.append(Problem(str(path), where, f"the file is cut off; {len(rows)} rows before the cut were kept."))
        return rows


def _rows(value: Any, depth: int) -> list[Row]:
    """Return the longest list of rows with numbers in `value`: objects in a list, or under their step's number."""
    if isinstance(value, list):
        entries = cast(list[Any], value)
        rows = [cast(Row, entry) for entry in entries if isinstance(entry, dict)]
        return rows if rows and len(rows) == len(entries) and any(map(_numbers, rows)) else []
    if not isinstance(value, dict) or not depth:
        return []
    table = cast(dict[str, Any], value)
    if table and all(key.isdecimal() and isinstance(entry, dict) for key, entry in table.items()):
        return [{"step": int(key), **cast(Row, entry)} for key, entry in table.items()]
    return max((_rows(entry, depth - 1) for entry in table.values()), key=len, default=list[Row]())


def _numbers(row: Row) -> bool:
    return any(isinstance(entry, (int, float)) for entry in flatten(row).values())


def _columns(value: Any, prefix: str, depth: int) -> dict[str, list[Any]]:
    """Return the columns of numbers in `value`, nested names joined by a slash."""
    if not isinstance(value, dict):
        return {}
    found: dict[str, list[Any]] = {}
    for key, entry in cast(dict[str, Any], value).items():
        column = _column(entry)
        if column:
            found[f"{prefix}{key}"] = column
        elif depth > 1:
            found.update(_columns(entry, f"{prefix}{key}/", depth - 1))
    return found


def _column(entry: Any) -> list[Any]:
    """Return a list of numbers, or what pandas makes of one: its entries under their places."""
    if isinstance(entry, Mapping):
        placed = cast(Mapping[str, Any], entry)
        if not placed or not all(key.isdecimal() for key in placed):
            return []
        entry = list(placed.values())
    if not isinstance(entry, list):
        return []
    cells = cast(list[Any], entry)
    known = [cell for cell in cells if cell is not None]
    return cells if len(known) >= LEAST and all(isinstance(cell, (int, float, str)) for cell in known) else []


def _add(columns: Columns, found: Mapping[str, list[Any]], path: Path, problems: list[Problem]) -> None:
    """Add the columns of one length: those beside a step, else most of them, and of equally many the longest."""
    if not found:
        return
    found = {_bare(key): column for key, column in found.items()}
    lengths = Counter(len(column) for column in found.values())
    stepped = [len(column) for key, column in found.items() if plain(key) in STEP_NAMES]
    length = max(stepped or lengths, key=lambda n: (lengths[n], n))
    kept = {key: column for key, column in found.items() if len(column) == length}
    left = [key for key in found if key not in kept]
    if left:
        what = f"{len(left)} lists have another length than the {length} of the others and were left ({left[0]!r})."
        problems.append(Problem(str(path), "", what, "Write them to a file of their own, beside their own steps."))
    for cells in zip(*kept.values(), strict=True):
        columns.add(tuple(kept), list(cells))


def _bare(key: str) -> str:
    """Return `key`, of a step column without what it lies under: it is the axis of them all."""
    last = key.rpartition("/")[2]
    return last if plain(last) in BARE_NAMES else key


def _settings(document: Any) -> dict[str, Any]:
    """Return the settings that lie beside the rows."""
    if not isinstance(document, dict):
        return {}
    table = cast(dict[str, Any], document)
    named = (table[key] for key in table if key.lower() in SETTINGS and isinstance(table[key], dict))
    return {name: value for settings in named for name, value in flat_config(cast(dict[str, Any], settings)).items()}


READER = Reader("json_document", "JSON document", sniff, read, rank=45)
