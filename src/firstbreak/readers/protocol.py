"""What a reader is. A reader is one module of this package that holds a `READER`; the folder is the registry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..runlog import Recording

Progress = Callable[[int, int], None]
"""Called with (bytes done, bytes in all) now and then during a long read."""


def no_progress(done: int, total: int) -> None:
    """Ignore progress."""


@dataclass(frozen=True)
class Options:
    """What a reader may be asked: `verify` checks every checksum; `progress` hears of long reads."""

    verify: bool = False
    progress: Progress = no_progress


@dataclass(frozen=True)
class Reader:
    """One log format.

    `sniff(path)` says how surely `path` (a file, or a folder where `folders`) is of this format, 0 to 1, from its name
    and its first bytes; it must be cheap, never raise, and never follow the file to its end. `read(path, options)`
    returns a `Recording`; it keeps what could be read, reports the rest in `Recording.problems`, and raises only
    `InputError` (nothing usable) or `UnreadableError` (cannot be opened).
    """

    name: str
    title: str
    sniff: Callable[[Path], float]
    read: Callable[[Path, Options], Recording]
    folders: bool = False
    verified: bool = True
    """False while no log written by the real package has been read."""
    rank: int = 50
    """Where two files of a run hold the same key, the reader with the higher rank wins (precision over float32)."""
    combine: Callable[[Sequence[Recording]], list[Recording]] | None = None
    """Joins recordings that are parts of one source: monitor files of parallel environments, parts of a record."""
    read_all: Callable[[Path, Options], list[Recording]] | None = None
    """Reads every run of a file that holds several; each recording is then a run of its own."""
