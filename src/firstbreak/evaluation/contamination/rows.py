"""The prompts of data files, a piece at a time; each row is read by its own columns, so schemas may mix."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from ...audit.reading.lines import lines_of, regular
from ...errors import FirstbreakError, InputError
from ...preflight.data.fields import names_in, roles_of, value_at
from ...preflight.data.reading import LINES, TABLES, Rows
from ...preflight.data.text import text_of
from ...preflight.data.turns import messages_in, said, speaker_of, split
from .sets import MOST_TEXTS

PIECE_BYTES = 2 << 20
"""Of a piece, so that its arrays stay small whatever the prompts."""
FORMATS = ".jsonl, .jsonl.gz, .json, .csv, .tsv or .parquet"


@dataclass
class Piece:
    """Consecutive rows of one file."""

    file: int
    numbers: list[int] = field(default_factory=list[int])
    """Row numbers from 1."""
    prompts: list[str] = field(default_factory=list[str])
    """Empty where a row has none."""
    answers: list[str] = field(default_factory=list[str])
    """Everything that the row gives as an answer, empty where it has none."""
    unreadable_rows: int = 0
    not_utf8_rows: int = 0


Raw = bytes | dict[str, Any] | None
Columns = Mapping[str, str]


def pieces(
    paths: Sequence[Path], columns: Columns, *, part: int = 0, parts: int = 1, rows: int = MOST_TEXTS
) -> Iterator[Piece]:
    """Yield every `parts`-th piece of the files, beginning with number `part`; the others are skipped unread.

    Raises:
        InputError: a file is of no known format.
        UnreadableError: a file cannot be opened.
    """
    reader = RowReader(columns)
    count = 0
    for index, path in enumerate(paths):
        first, held, size = 1, list[Raw](), 0
        for raw in _raw(path):
            held.append(raw)
            size += _size(raw)
            if len(held) >= rows or size >= PIECE_BYTES:
                if count % parts == part:
                    yield reader.piece(index, first, held)
                first, count, size = first + len(held), count + 1, 0
                held = []
        if held and count % parts == part:
            yield reader.piece(index, first, held)
        count += bool(held)


def _size(raw: Raw) -> int:
    if raw is None or isinstance(raw, bytes):
        return len(raw or b"")
    return sum(len(v) if isinstance(v, str) else 64 for v in raw.values())


def _raw(path: Path) -> Iterator[Raw]:
    name = path.name.lower().removesuffix(".gz")
    suffix = Path(name).suffix
    regular(path)
    if suffix in LINES and not (suffix == ".json" and _is_list(path)):
        for line in lines_of(path, lambda _: None):
            if line is None or line.strip():
                yield line
    elif suffix in LINES | TABLES.keys() | {".parquet"} and not path.name.lower().endswith(".gz"):
        yield from _table(path)
    else:
        raise InputError(f"{path}: data files end in {FORMATS}.", "Save the data as JSON lines, one object a line.")


def _is_list(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")


def _table(path: Path) -> Iterator[Raw]:
    last = 0
    for number, row in Rows(path):
        for _ in range(last + 1, number):
            yield None
        last = number
        yield row


class RowReader:
    """Takes prompt and answer out of rows; what it learned of one schema it keeps for the next row of it."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._roles: dict[tuple[str, ...], dict[str, str]] = {}

    def piece(self, file: int, first: int, raw: Sequence[Raw]) -> Piece:
        """Return the rows numbered from `first` on."""
        found = Piece(file)
        for number, one in enumerate(raw, first):
            row = self._row(one, found)
            prompt, answer = self.texts(row) if row is not None else ("", "")
            found.numbers.append(number)
            found.prompts.append(prompt)
            found.answers.append(answer)
        return found

    @staticmethod
    def _row(raw: Raw, piece: Piece) -> dict[str, Any] | None:
        if isinstance(raw, dict):
            return raw
        text = ""
        if raw is not None:
            try:
                text = raw.decode("utf-8")
            except UnicodeDecodeError:
                piece.not_utf8_rows += 1
                text = raw.decode("utf-8", "replace")
        try:
            row = json.loads(text)
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict):
            return cast("dict[str, Any]", row)
        piece.unreadable_rows += 1
        return None

    def texts(self, row: Mapping[str, Any]) -> tuple[str, str]:
        """Return the prompt of a row, with the context it comes with, and all that it gives as an answer."""
        names = tuple(names_in(row))
        roles = self._roles.get(names)
        if roles is None:
            roles = self._learn(names)
        messages = messages_in(value_at(row, roles["messages"])) if "messages" in roles else None
        prompt, reply = _prompt(value_at(row, roles["prompt"]) if "prompt" in roles else messages)
        if not prompt and messages:
            prompt, reply = _prompt(messages)
        if "context" in roles:
            prompt = f"{text_of(value_at(row, roles['context'])) or ''}\n{prompt}".strip("\n")
        given = [text_of(value_at(row, roles[r])) for r in ("answer", "completion", "chosen") if r in roles]
        return prompt, "\n".join(t for t in (*given, reply) if t)

    def _learn(self, names: tuple[str, ...]) -> dict[str, str]:
        there = {n.lower() for n in names}
        columns = {role: column for role, column in self._columns.items() if column.lower() in there}
        try:
            roles = roles_of(names, columns)
        except InputError:
            roles = {}
        if len(self._roles) < 10_000:
            self._roles[names] = roles
        return roles


def _prompt(value: Any) -> tuple[str, str]:
    """Return what is asked and, of a conversation, the last reply."""
    messages = messages_in(value)
    if messages is None:
        return text_of(value) or "", ""
    before, reply = split(messages)
    asked = [m for m in before if speaker_of(m) != "assistant"]
    return said(asked), said(reply)


def check_columns(columns: Columns) -> None:
    """Refuse roles that do not exist.

    Raises:
        FirstbreakError: a role is unknown; the hint offers the nearest.
    """
    known = ("prompt", "context", "answer", "completion", "chosen", "messages")
    for role in columns:
        if role not in known:
            from ...errors import unknown_name

            error: FirstbreakError = unknown_name("role of a column", role, known)
            raise error
