"""Lines into a file that may fail: kept in memory while it does, tried again ever more rarely, said once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .part import NO_ROOM, Part

MAX_PENDING_BYTES = 16 << 20
"""Lines kept in memory while nothing can be written; beyond that the oldest are given up. Engineering default."""
MAX_PART_BYTES = 256 << 20
"""Size at which the next part is begun: a file that editors and tools still open. Engineering default."""
MAX_WAIT_ROWS = 1024
"""Lines between two attempts to write, at most. Engineering default."""
LOOK_EVERY = 16
"""Writes between two looks whether the file is still there (one costs about a microsecond)."""


class Store:
    """Appends lines to the parts of one rank.

    Args:
        folder: Where the parts lie.
        rank: Whose they are.
        head: Makes the first line of a part, from the names of the parts that others write beside it.
        told: Hears one sentence whenever recording stops or goes on again.
        buffer_rows: Lines gathered before they are written together.
    """

    def __init__(
        self,
        folder: Path,
        rank: int,
        head: Callable[[tuple[str, ...]], bytes],
        told: Callable[[str], None],
        buffer_rows: int = 1,
    ) -> None:
        self.fault = ""
        """Why nothing can be written at present, `""` when all is well."""
        self.lost = 0
        """Lines given up since the start."""
        self.part: Part | None = None
        self._folder, self._rank, self._head, self._told = folder, rank, head, told
        self._buffer = max(buffer_rows, 1)
        self._pending: list[bytes] = []
        self._bytes = 0
        self._wait = self._backoff = 0
        self._writes = 0
        self._outages = 0
        """How often writing stopped so far."""
        self.crowded = False
        """Whether it was told that others write beside us."""
        self._unwritten = 0
        """Lines that waited at a close, as was told."""

    def append(self, line: bytes) -> None:
        """Write `line`, or keep it until the buffer is full or the fault is over. Never raises `OSError`."""
        self._pending.append(line)
        self._bytes += len(line)
        if self._wait > 0:
            self._wait -= 1
            self._trim()
        elif len(self._pending) >= self._buffer:
            self.drain()

    def drain(self) -> bool:
        """Write what waits; False when that is not possible now."""
        if not self._pending:
            return not self.fault
        try:
            part = self._open()
            part.append(self._pending)
        except (OSError, ValueError) as error:  # a path may hold what no path can
            self._failed(error)
            return False
        self._bytes = 0
        if part.size > MAX_PART_BYTES:
            self._leave()
        if self.fault:
            self._recovered()
        return True

    def _open(self) -> Part:
        self._writes += 1
        if self.part is not None and self._writes % LOOK_EVERY == 0 and self.part.deleted:
            gone = self.part.path
            self._leave()
            self._told(f"{gone} was removed while it was written; recording goes on in a new file.")
        if self.part is None:
            part = Part(self._folder, self._rank)
            try:
                part.append([self._head(part.beside)])
            except OSError:
                part.discard()
                raise
            self.part = part
            self._beside(part)
        return self.part

    def _beside(self, part: Part) -> None:
        """Say once that somebody else records here: a run begun twice by mistake looks like one that is slow."""
        if not part.beside or self.crowded:
            return
        self.crowded = True
        names = ", ".join(part.beside)
        whose = f"{names} in {self._folder} is written beside this record, which is read as another run."
        self._told(f"{whose} Give each process a folder of its own, or its rank.")

    def _failed(self, error: OSError | ValueError) -> None:
        if getattr(error, "errno", None) not in NO_ROOM:
            self._leave()  # a new file may do where this one does not
        self._bytes = sum(map(len, self._pending))
        self._backoff = min(2 * self._backoff or 1, MAX_WAIT_ROWS)
        self._wait = self._backoff
        self._trim()
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        first, self.fault = not self.fault, f"{self._folder}: {reason}"
        if first:
            self._outages += 1
            where = f"{self.fault}{self._count}"
            self._tell(f"Nothing can be recorded in {where}. Training goes on; the newest rows wait in memory.")

    def _recovered(self) -> None:
        missing = f" {self.lost} lines were given up." if self.lost else ""
        tell = self._told if missing else self._tell
        tell(f"Recording in {self._folder} goes on{self._count}.{missing}")
        self.fault, self._backoff, self._wait = "", 0, 0

    @property
    def _count(self) -> str:
        return f" (stop {self._outages})" if self._outages > 1 else ""

    def _tell(self, sentence: str) -> None:
        """Tell of every stop whose number is a power of two: a disk that is full at every other row is said rarely."""
        if self._outages & (self._outages - 1) == 0:
            self._told(sentence)

    def _trim(self) -> None:
        """Give up the oldest lines when too many wait."""
        given = 0
        while self._bytes > MAX_PENDING_BYTES and given < len(self._pending) - 1:
            self._bytes -= len(self._pending[given])
            given += 1
        del self._pending[:given]
        self.lost += given

    def _leave(self) -> None:
        if self.part is not None:
            self.part.close()
        self.part = None

    def close(self) -> None:
        """Write what waits, put it on the disk and give up the file; a later line opens a new part."""
        if self.drain() and self.part is not None:
            try:
                self.part.sync()
            except OSError as error:
                self._failed(error)
        if len(self._pending) > self._unwritten:
            self._unwritten = len(self._pending)
            text = f"The newest {self._unwritten} lines are not in {self.fault}."
            self._told(f"{text} What cannot be written when this process ends is lost.")
        self._leave()

    def abandon(self) -> None:
        """Forget everything without writing: after a fork, what waits is the parent's to write."""
        self._pending, self._bytes = [], 0
        self.fault, self._wait, self._backoff, self.lost = "", 0, 0, 0
        self._leave()
