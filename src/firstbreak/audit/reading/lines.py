"""The lines of a file in bounded memory: packed or not, with or without a byte-order mark, whatever their length."""

from __future__ import annotations

import gzip
import io
import stat
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

from ...errors import UnreadableError
from ...readers.textfile import HEAD_BYTES, MAX_LINE, encoding_of, unreadable

PIECE_BYTES = 1 << 20
"""Read at a time, so that a line which is too long never lies in memory as a whole."""
Problem = Callable[[str], None]


def regular(path: Path) -> None:
    """Refuse what is not a plain file: opening a pipe or a device may never return.

    Raises:
        UnreadableError: it does not exist, may not be read, or is not a plain file.
    """
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise unreadable(path, error) from error
    if not stat.S_ISREG(mode):
        raise UnreadableError(f"{path}: not a plain file (a pipe, socket or device).", "Give the path of a data file.")


def opened(path: Path) -> io.BufferedIOBase:
    """Open a plain file for reading, unpacking what gzip packed.

    Raises:
        UnreadableError: it cannot be opened.
    """
    regular(path)
    try:
        if path.suffix.lower() == ".gz":
            return cast(io.BufferedIOBase, gzip.open(path))
        return path.open("rb")
    except OSError as error:
        raise unreadable(path, error) from error


def head_of(path: Path, size: int = HEAD_BYTES) -> bytes:
    """Return the first bytes of a file, unpacked and as UTF-8; empty when it cannot be read."""
    start = _raw_head(path, size)
    return start.decode("utf-16", "ignore").encode("utf-8", "replace") if encoding_of(start) == "utf-16" else start


def _raw_head(path: Path, size: int) -> bytes:
    try:
        with opened(path) as stream:
            return stream.read(size)
    except (OSError, EOFError, zlib.error):
        return b""


def lines_of(
    path: Path, problem: Problem, *, longest: int = MAX_LINE, keep_ends: bool = False
) -> Iterator[bytes | None]:
    """Yield the lines of a file as UTF-8; None for one longer than `longest` bytes.

    Args:
        path: The file.
        problem: Told, once, why reading ended before the end of the file.
        longest: A longer line is passed over in pieces.
        keep_ends: Whether the ends of the lines stay on them.

    Raises:
        UnreadableError: the file cannot be opened.
    """
    with opened(path) as stream:
        piece, release = _pieces(stream, path)
        try:
            for line in _lines(piece, longest):
                yield line if keep_ends or line is None else line.rstrip(b"\r\n")
        except (EOFError, zlib.error, gzip.BadGzipFile):
            problem("the packed file is cut or damaged; what follows could not be unpacked")
        except OSError as error:
            problem(f"reading stopped: {error.strerror or type(error).__name__}")
        finally:
            release()


def _pieces(stream: io.BufferedIOBase, path: Path) -> tuple[Callable[[], bytes], Callable[[], object]]:
    """Return what reads the next piece of at most one line, and what to call at the end."""
    encoding = encoding_of(_raw_head(path, 4))
    if encoding == "utf-16":
        reader = io.TextIOWrapper(cast(io.BufferedReader, stream), encoding, "replace", newline="\n")
        return lambda: reader.readline(PIECE_BYTES).encode("utf-8", "replace"), reader.detach
    if encoding == "utf-8-sig":
        stream.read(3)
    return lambda: stream.readline(PIECE_BYTES), lambda: None


def _lines(piece: Callable[[], bytes], longest: int) -> Iterator[bytes | None]:
    while found := piece():
        if found.endswith(b"\n") or len(found) < PIECE_BYTES:
            yield found if len(found) <= longest else None
            continue
        parts, size = [found], len(found)
        while not found.endswith(b"\n") and (found := piece()):
            size += len(found)
            if size <= longest:
                parts.append(found)
            else:
                parts.clear()
        yield b"".join(parts) if size <= longest else None
