"""`File`: notices as lines of JSON in a file."""

from __future__ import annotations

import errno
import os
from io import FileIO
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

from ..verdict import Notice
from .alert import AlertError
from .http_post import to_json
from .plain import printable


class File:
    """Appends one JSON object per notice. The file may be moved away or shared by processes while the run goes on.

    Args:
        path: The file; its folder is made when missing.
    """

    per_minute: int | None = None

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __repr__(self) -> str:
        return f"File({str(self.path)!r})"

    def send(self, notice: Notice) -> None:
        """Append `notice`.

        Raises:
            AlertError: the file cannot be written (no space, no permission).
        """
        line = to_json(notice.to_dict()) + b"\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _append(self.path, line)
        except OSError as error:
            raise AlertError(f"Cannot write {printable(str(self.path))}: {error.strerror}.") from error


def _append(path: Path, line: bytes) -> None:
    """Write `line` in one call, so that lines of several processes do not mix, on a line of its own."""
    with path.open("ab+", buffering=0) as file:
        if fcntl is None:
            return _write_line(file, line)
        fcntl.flock(file, fcntl.LOCK_EX)  # else a line that another is just writing looks torn
        try:
            _write_line(file, line)
        finally:  # a child that was forked meanwhile has the file open as well: closing it here would not free it
            fcntl.flock(file, fcntl.LOCK_UN)


def _write_line(file: FileIO, line: bytes) -> None:
    if file.seek(0, os.SEEK_END) > 0:
        file.seek(-1, os.SEEK_END)
        line = line if file.read(1) == b"\n" else b"\n" + line  # the disk was full in the middle of a line
    if file.write(line) != len(line):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
