"""A text file read line by line in bounded memory, whatever its encoding and line endings."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import UnreadableError
from ..runlog import Problem
from .protocol import Options

HEAD_BYTES = 1 << 16
"""How much of a file is looked at to tell its format."""
MAX_LINE = 64 << 20
"""Longest line read, in characters; a longer one is not a row of metrics."""
PROGRESS_LINES = 4096
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def unreadable(path: Path, error: OSError) -> UnreadableError:
    """Build the error for a file that cannot be opened or read."""
    reason = error.strerror or type(error).__name__
    return UnreadableError(f"{path}: cannot be read ({reason}).", "Check that it exists and that you may read it.")


def head(path: Path, size: int = HEAD_BYTES) -> bytes:
    """Return the first bytes of `path`, empty when it cannot be read."""
    try:
        with path.open("rb") as stream:
            return stream.read(size)
    except OSError:
        return b""


def encoding_of(start: bytes) -> str:
    """Return the encoding that the byte-order mark at the `start` of a file announces, else UTF-8."""
    return next((name for mark, name in _MARKS if start.startswith(mark)), "utf-8")


def head_lines(path: Path, size: int = HEAD_BYTES) -> list[str]:
    """Return the complete lines among the first bytes of `path`; none when they are binary."""
    start = head(path, size)
    encoding = encoding_of(start)
    if encoding != "utf-16" and b"\0" in start:
        return []
    lines = start.decode(encoding, "replace").splitlines()
    return lines[:-1] if len(start) == size and len(lines) > 1 else lines


@dataclass
class TextFile:
    """The lines of `path`. Iterate once, then ask for `problems`."""

    path: Path
    options: Options
    replaced: int = field(default=0, init=False)
    """Lines that held bytes which are not text."""
    overlong: int = field(default=0, init=False)
    number: int = field(default=0, init=False)
    """Number of the line given last, from 1."""

    def __iter__(self) -> Iterator[str]:
        encoding = encoding_of(head(self.path, 4))
        try:
            total = os.stat(self.path).st_size
            with self.path.open("rb") as raw, io.TextIOWrapper(raw, encoding, "replace", newline="") as stream:
                while line := stream.readline(MAX_LINE):
                    self.number += 1
                    if self.number % PROGRESS_LINES == 0:
                        self.options.progress(raw.tell(), total)
                    if "\ufffd" in line:
                        self.replaced += 1
                    if len(line) == MAX_LINE and not line.endswith("\n"):
                        self.overlong += 1
                        while line and not line.endswith("\n"):
                            line = stream.readline(MAX_LINE)
                        continue
                    yield line
        except OSError as error:
            raise unreadable(self.path, error) from error
        except UnicodeError as error:
            raise unreadable(self.path, OSError(f"not text: {error}")) from error

    def problems(self) -> list[Problem]:
        """Return what was wrong with the text as such."""
        found: list[Problem] = []
        if self.replaced:
            what = f"{self.replaced} lines hold bytes that are not valid text; those characters were replaced."
            found.append(Problem(str(self.path), "", what, "Numbers are not affected."))
        if self.overlong:
            what = f"{self.overlong} lines are longer than {MAX_LINE} characters and were passed over."
            found.append(Problem(str(self.path), "", what))
        return found


def modified(path: Path) -> float:
    """Return the modification time of `path` in seconds since the epoch, 0 when unknown."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
