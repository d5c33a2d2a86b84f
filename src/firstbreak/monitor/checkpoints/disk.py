"""Folders that appear on disk whole or not at all, and the leftovers of those that did not."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import socket
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

HOST = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]
LEFTOVER = re.compile(r"^\.(?:(?:save|failed)-\d{6,}|store\.json)\.(?P<host>[0-9a-f]{8})-(?P<pid>\d+)-\d+\.tmp$")
"""Names of what is unfinished or half deleted; nothing else is ever cleaned away."""
STALE_S = 86_400.0
"""Age at which a leftover of another machine is taken for dead, in seconds."""
_CHUNK_BYTES = 1 << 20
_open: set[Path] = set()
_serial = iter(range(1 << 62))


class Sink:
    """A new file that keeps the first fault of writing until `close`, so that no error crosses a foreign writer.

    `torch.save` turns an error of the disk into a message about positions; numpy leaves a half-closed archive.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("xb")
        self._fault: OSError | None = None

    def write(self, data: Any) -> int:
        """Write bytes; after a fault nothing is written any more."""
        size = memoryview(data).nbytes
        if self._fault is None:
            try:
                self._file.write(data)
            except OSError as fault:
                self._fault = fault
        return size

    def flush(self) -> None:
        """Do nothing: `close` flushes."""

    def close(self) -> None:
        """End the file; raise the first fault."""
        try:
            self._file.close()
        except OSError as fault:
            self._fault = self._fault or fault
        if self._fault is not None:
            raise self._fault


@contextlib.contextmanager
def sink(path: Path) -> Generator[Sink]:
    """Open a `Sink` and close it at the end; the fault of the disk wins over what it led to."""
    opened = Sink(path)
    try:
        yield opened
    except Exception:
        opened.close()
        raise
    opened.close()


def make(folder: Path, name: str, fill: Callable[[Path], None]) -> Path:
    """Let `fill` write into a hidden folder and rename it to `name` when all of it is on disk."""
    hidden = _hidden(folder, name)
    _open.add(hidden)
    try:
        hidden.mkdir()
        fill(hidden)
        for path in sorted(hidden.rglob("*"), reverse=True):
            _sync(path)
        _sync(hidden)
        os.rename(hidden, folder / name)
        _sync(folder)
    except BaseException:
        shutil.rmtree(hidden, ignore_errors=True)
        raise
    finally:
        _open.discard(hidden)
    return folder / name


def remove(path: Path) -> None:
    """Delete a folder: rename it first, so that a half-deleted one never looks like a checkpoint."""
    hidden = _hidden(path.parent, path.name)
    os.rename(path, hidden)
    shutil.rmtree(hidden)


def replace(path: Path, text: str) -> None:
    """Replace a small file by `text`: the old content or the new, never a mixture."""
    hidden = _hidden(path.parent, path.name)
    try:
        with hidden.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(hidden, path)
        _sync(path.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            hidden.unlink(missing_ok=True)
        raise


def clean(folder: Path) -> None:
    """Delete what killed processes left behind: our own hidden names only, and only of processes that are gone."""
    for path in list(folder.iterdir()):
        found = LEFTOVER.match(path.name)
        if found and path not in _open and not path.is_symlink() and _dead(path, found["host"], int(found["pid"])):
            _discard(path)


def marks(folder: Path) -> dict[str, dict[str, Any]]:
    """Return size and hash of every file below `folder`, by relative path. Links are refused."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            raise OSError(f"{path.relative_to(folder)} is a link")
        if path.is_file():
            found[path.relative_to(folder).as_posix()] = {"bytes": path.stat().st_size, "sha256": _digest(path)}
    return found


def _digest(path: Path) -> str:
    made = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            made.update(chunk)
    return made.hexdigest()


def _discard(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def _hidden(folder: Path, name: str) -> Path:
    return folder / f".{name}.{HOST}-{os.getpid()}-{next(_serial)}.tmp"


def _dead(path: Path, host: str, pid: int) -> bool:
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime > STALE_S:
            return True
    if host != HOST:
        return False
    if pid == os.getpid():
        return True  # an earlier process had our number, as it happens in containers
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _sync(path: Path) -> None:
    if path.is_dir() and os.name != "posix":
        return  # Windows cannot open a folder
    handle = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
