"""One file of the record, written by one process: opened anew, appended to, never shared."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path
from types import ModuleType

from ...readers.record_line import NAME, part_name

_lock: ModuleType | None
try:
    import fcntl as _lock
except ImportError:  # Windows: two processes on one folder are then told apart by nothing but their files
    _lock = None

LOOKED_AT = 8
"""Newest earlier parts that are asked whether somebody still writes them."""
_OPEN: set[Path] = set()
"""Files that this process itself writes: a lock of one's own cannot be felt."""
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
"""Errors after which the same file can be written again later."""


class Part:
    """A file being written. Its number is one more than any in the folder: parts are ordered without a clock."""

    def __init__(self, folder: Path, rank: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
        earlier = parts_of(folder, rank)
        number = max(earlier, default=0) + 1
        while True:  # another process may take the number first; then the next one is free
            self.path = folder / part_name(rank, number)
            try:
                self._fd = os.open(self.path, flags, 0o644)
                break
            except FileExistsError:
                number += 1
        self.size = 0
        self._torn = False
        _hold(self._fd)
        newest = [earlier[n] for n in sorted(earlier)[-LOOKED_AT:]]
        self.beside = tuple(path.name for path in newest if in_use(path))
        """Earlier parts that somebody still writes."""
        _OPEN.add(self.path)

    def append(self, lines: list[bytes]) -> None:
        """Append whole lines with one write; those that were written are taken out of `lines`, also when it fails.

        Raises:
            OSError: something could not be written; no part of a line is left behind where that can be helped.
        """
        blob = lines[0] if len(lines) == 1 else b"".join(lines)
        done = 0
        try:
            if self._torn:  # a line that could not be cut off is ended, so that the next stands alone
                self.size += os.write(self._fd, b"\n")
                self._torn = False
            while done < len(blob):  # a second write only to learn why the first was cut short
                done += os.write(self._fd, blob[done:] if done else blob)
        except OSError:
            whole = blob.rfind(b"\n", 0, done) + 1
            del lines[: blob.count(b"\n", 0, whole)]
            self.size += whole
            if done > whole:
                self._cut(done - whole)
            raise
        self.size += done
        lines.clear()

    def _cut(self, torn: int) -> None:
        """Take the `torn` bytes of a line off the end."""
        try:
            os.ftruncate(self._fd, self.size)
        except OSError:
            self.size += torn
            self._torn = True

    @property
    def deleted(self) -> bool:
        """Whether the file was removed under us: writing goes on without an error, into nothing."""
        try:
            return os.fstat(self._fd).st_nlink == 0
        except OSError:
            return True

    def sync(self) -> None:
        """Ask the system to put the file on the disk."""
        os.fsync(self._fd)

    def close(self) -> None:
        """Give up the file; never raises."""
        _OPEN.discard(self.path)
        with contextlib.suppress(OSError):
            os.close(self._fd)

    def discard(self) -> None:
        """Give up a file that never got its first line, and remove it; never raises."""
        self.close()
        with contextlib.suppress(OSError):
            self.path.unlink()


def in_use(path: Path) -> bool:
    """Whether somebody, this process or another, still writes the file at `path`."""
    return path in _OPEN or _held(path)


def parts_of(folder: Path, rank: int) -> dict[int, Path]:
    """Return the parts of `rank` in `folder` by their number."""
    found: dict[int, Path] = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            match = NAME.fullmatch(entry.name)
            if match and int(match["rank"]) == rank:
                found[int(match["part"])] = Path(entry.path)
    return found


def _hold(fd: int) -> None:
    """Lock our own file until this process ends, however it ends. Nobody waits for it; it only tells that we live."""
    if _lock is not None:
        with contextlib.suppress(OSError):  # a file system without locks
            _lock.lockf(fd, _lock.LOCK_EX | _lock.LOCK_NB)


def _held(path: Path) -> bool:
    """Whether another process holds the file at `path`."""
    if _lock is None:
        return False
    try:
        fd = os.open(path, os.O_WRONLY | os.O_APPEND)
    except OSError:
        return False
    try:
        _lock.lockf(fd, _lock.LOCK_EX | _lock.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return True
    except OSError:
        return False
    finally:
        os.close(fd)
    return False
