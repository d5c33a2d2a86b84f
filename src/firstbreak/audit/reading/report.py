"""What was read, what could not be read, and what was passed over; counts and row numbers, no texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...errors import UnknownNameError, unknown_name

FIRST = 10
"""Unreadable rows whose numbers are kept."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A row that could not be read."""

    source: str
    row: int
    """From 0, among the rows of its file."""
    reason: str


@dataclass
class ReadReport:
    """Filled in while the samples are read; complete when the iterator is at its end."""

    formats: Counter[str] = field(default_factory=Counter[str])
    """Format -> files."""
    files: Counter[str] = field(default_factory=Counter[str])
    """File -> samples read from it; the first `MOST_FILES` files."""
    rows: int = 0
    """Samples read."""
    unreadable: int = 0
    """Rows that could not be read."""
    reasons: Counter[str] = field(default_factory=Counter[str])
    """Reason -> rows that could not be read for it."""
    first: list[Unreadable] = field(default_factory=list[Unreadable])
    """The first of them."""
    left: Counter[str] = field(default_factory=Counter[str])
    """Reason -> files that were passed over for it."""
    mended: Counter[str] = field(default_factory=Counter[str])
    """What was put right or left out in rows that were read -> rows: bytes that are no text, numbers that are not
    finite, token lists that do not fit one another."""
    notes: list[str] = field(default_factory=list[str])
    """What a reader had to work out, and what that means for the numbers."""

    unscored: int = 0
    """Samples whose reward was there, but is text, NaN or infinite."""
    names: tuple[str, ...] = ()
    """The columns of the first row."""
    played: set[str] = field(default_factory=set[str])
    """Roles that some row has a column for."""

    MOST_FILES = 1000
    MOST_REASONS = 100

    def refuse(self, source: str, row: int, reason: str) -> None:
        """Count a row that cannot be read."""
        self.unreadable += 1
        self.reasons[reason] += 1
        if len(self.first) < FIRST:
            self.first.append(Unreadable(source, row, reason))

    def accept(self, source: str) -> None:
        """Count a sample."""
        self.rows += 1
        if source in self.files or len(self.files) < self.MOST_FILES:
            self.files[source] += 1

    def demand(self, columns: Mapping[str, str], path: str) -> None:
        """Refuse columns that the user named (role -> column) and that no row has.

        Raises:
            UnknownNameError: there is such a column.
        """
        for role, column in columns.items():
            if self.rows and role not in self.played:
                error = unknown_name(f"column in {path}", column, self.names)
                raise UnknownNameError(error.message, error.hint or "Look at the first row for its name.")

    def leave(self, reason: str) -> None:
        """Count a file that is passed over."""
        self.left[reason if reason in self.left or len(self.left) < self.MOST_REASONS else "other reasons"] += 1

    def note(self, text: str) -> None:
        """Keep a remark, once."""
        if text not in self.notes and len(self.notes) < self.MOST_REASONS:
            self.notes.append(text)
