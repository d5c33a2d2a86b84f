"""The ledger on disk: SQLite, append-only, safe against two writers and sudden death."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ...errors import FirstbreakError, InputError, UnreadableError
from .chain import COLUMNS, START, Entry, faults_of, tied

PATIENCE_S = 60.0
"""How long a writer waits for another."""
TRIGGERS = ("ledger_never_updated", "ledger_never_deleted")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS ledger (
    number INTEGER PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, split TEXT NOT NULL, subject TEXT NOT NULL,
    protocol_hash TEXT NOT NULL, body TEXT NOT NULL, previous TEXT NOT NULL, digest TEXT NOT NULL
);
CREATE TRIGGER IF NOT EXISTS ledger_never_updated BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER IF NOT EXISTS ledger_never_deleted BEFORE DELETE ON ledger
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
"""
_MARK = 0x66624C31
"""The application id of a ledger file."""


class TamperedError(FirstbreakError, ValueError):
    """The ledger was changed by other means than appending."""

    kind = "tampered_ledger"


@dataclass(frozen=True)
class Head:
    """Where the ledger ended: to be kept elsewhere (in a commit, a paper) so that nothing can be cut off unseen."""

    count: int
    digest: str

    def __str__(self) -> str:
        return f"{self.count}:{self.digest}"

    @staticmethod
    def parse(text: str) -> Head:
        """Read what `str` wrote.

        Raises:
            InputError: the text is of another form.
        """
        count, colon, digest = text.strip().partition(":")
        if not (colon and count.isdigit() and len(digest) == 64):
            raise InputError(f"{text.strip()[:80]!r} is no head of a ledger.", "It has the form COUNT:64 hex digits.")
        return Head(int(count), digest)


class Ledger:
    """A ledger file. Its head lies beside it, in `<name>.head`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.head_path = path.with_name(path.name + ".head")

    def append(
        self, kind: str, split: str, subject: str, protocol_hash: str, body: Callable[[list[Entry]], str]
    ) -> Entry:
        """Add an entry; `body` is given all entries so far, under the lock: what it decides cannot be overtaken.

        Raises:
            UnreadableError: the file cannot be opened or is no ledger.
            TamperedError: the file is gone, though the head beside it counts entries.
        """
        self._insist_on_file()
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            entries = _entries(connection)
            last = entries[-1] if entries else None
            if last is None:
                self._write_head(Head(0, START))
            entry = tied(
                last.number + 1 if last else 1,
                datetime.now(UTC).isoformat(timespec="milliseconds"),
                kind,
                split,
                subject,
                protocol_hash,
                body(entries),
                last.digest if last else START,
            )
            marks = ", ".join("?" * len(COLUMNS))
            connection.execute(
                f"INSERT INTO ledger ({', '.join(COLUMNS)}) VALUES ({marks})",  # noqa: S608 (names are ours)
                [getattr(entry, name) for name in COLUMNS],
            )
            connection.execute("COMMIT")
            self._renew_head(connection)
        return entry

    def _renew_head(self, connection: sqlite3.Connection) -> None:
        """Say where the ledger ends now. After a sudden death before this the head lags behind; it never leads."""
        connection.execute("BEGIN IMMEDIATE")
        row = connection.execute("SELECT number, digest FROM ledger ORDER BY number DESC LIMIT 1").fetchone()
        self._write_head(Head(*row))
        connection.execute("COMMIT")

    def entries(self) -> list[Entry]:
        """Return all entries in order.

        Raises:
            UnreadableError: there is no such file, or it is no ledger.
            TamperedError: the file is gone, though the head beside it counts entries.
        """
        self._insist_on_file()
        if not self.path.is_file():
            raise UnreadableError(f"{self.path}: no such ledger.", "The first `firstbreak eval record` makes it.")
        with self._open() as connection:
            return _entries(connection)

    def head(self) -> Head:
        """Return the count and digest that the ledger ends with now."""
        entries = self.entries()
        return Head(len(entries), entries[-1].digest if entries else START)

    def faults(self, expected: Head | None = None) -> list[str]:
        """Return what shows that the ledger was changed by other means than appending; nothing when it is whole.

        Args:
            expected: A head noted earlier; without it, the one beside the file.
        """
        beside, fault = self._read_head()  # before the entries: a writer makes the head after its entry
        entries = self.entries()
        if beside is None:  # it may just have been made: no entry is without a head
            beside, fault = self._read_head()
        with self._open() as connection:
            there = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")}
            checks = [row[0] for row in connection.execute("PRAGMA integrity_check")]
        faults = [f"the guard {name} was removed" for name in TRIGGERS if name not in there]
        faults += [f"the file is damaged: {checks[0][:100]}"] if checks != ["ok"] else []
        faults += [*faults_of(entries), *(fault if entries else ())]
        for head, where in ((expected, "noted earlier"), (beside, "beside the file")):
            faults += _against(entries, head, where) if head else []
        return faults

    def _insist_on_file(self) -> None:
        """Refuse to go on where the file was removed: an empty ledger would begin, and every look be forgotten."""
        head, _ = self._read_head()
        if head is not None and head.count and not self.path.exists():
            raise TamperedError(
                f"{self.path} is gone; the head beside it counts {head.count} {_entries_word(head.count)}.",
                f"Restore it from a copy. To begin a new ledger, remove {self.head_path.name} as well, and say why.",
            )

    def _read_head(self) -> tuple[Head | None, list[str]]:
        try:
            return Head.parse(self.head_path.read_text("ascii", errors="replace")), []
        except InputError:
            return None, [f"the head {self.head_path.name} was changed"]
        except OSError:
            return None, [f"the head {self.head_path.name} is missing: entries may have been cut off at the end"]

    def _write_head(self, head: Head) -> None:
        """Write the head, whole or not at all; under the lock, so that it never goes back."""
        with tempfile.NamedTemporaryFile("w", dir=self.path.parent, prefix=".firstbreak", delete=False) as file:
            try:
                file.write(f"{head}\n")
                file.flush()
                os.fsync(file.fileno())
                os.replace(file.name, self.head_path)
            except BaseException:  # Ctrl-C too: no scrap is left beside the ledger
                Path(file.name).unlink(missing_ok=True)
                raise

    @contextmanager
    def _open(self) -> Generator[sqlite3.Connection, None, None]:
        try:
            connection = sqlite3.connect(self.path, timeout=PATIENCE_S, isolation_level=None)
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from error
        try:
            connection.execute("PRAGMA synchronous = FULL")
            mark = connection.execute("PRAGMA application_id").fetchone()[0]
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if mark != _MARK and tables:
                raise UnreadableError(f"{self.path}: an SQLite file, but no ledger.", "Choose another name.")
            if not tables:
                connection.execute(f"PRAGMA application_id = {_MARK}")
                connection.executescript("BEGIN IMMEDIATE;" + _SCHEMA + "COMMIT;")
            yield connection
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from error
        finally:
            connection.close()


def _unusable(path: Path, error: sqlite3.Error) -> UnreadableError:
    return UnreadableError(
        f"{path}: cannot be used as a ledger: {error}.", "Is it an SQLite file in a folder of yours?"
    )


def _entries(connection: sqlite3.Connection) -> list[Entry]:
    rows = connection.execute(f"SELECT {', '.join(COLUMNS)} FROM ledger ORDER BY number")  # noqa: S608 (names are ours)
    return [Entry(*row) for row in rows]


def _entries_word(count: int) -> str:
    return "entry" if count == 1 else "entries"


def _against(entries: list[Entry], head: Head, where: str) -> list[str]:
    """Return how the ledger departs from a head, which may be older but must be part of it."""
    if head.count > len(entries):
        lost = head.count - len(entries)
        return [f"{lost} {_entries_word(lost)} cut off at the end (the head {where} counts {head.count})"]
    if head.count and entries[head.count - 1].digest != head.digest:
        return [f"entry {head.count} is another than the head {where} says: the ledger was written anew"]
    return []
