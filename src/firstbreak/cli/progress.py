"""A line that says how far a long read has come: on a terminal only, and only after a second."""

from __future__ import annotations

import sys
import time
from typing import Self

PATIENCE_S = 1.0
"""Reads shorter than this show nothing."""
REFRESH_S = 0.1


class _Line:
    """The line; a context manager, so that it is wiped."""

    def __init__(self, *, wanted: bool = True) -> None:
        self._shown = 0
        self._on = wanted and sys.stderr.isatty()
        self._start = time.monotonic()
        self._last = self._start

    def _due(self) -> bool:
        """Whether it is time to say something."""
        now = time.monotonic()
        if not self._on or now - self._start < PATIENCE_S or now - self._last < REFRESH_S:
            return False
        self._last = now
        return True

    def _say(self, text: str) -> None:
        sys.stderr.write(f"\r{text}")
        sys.stderr.flush()
        self._shown = max(self._shown, len(text))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")
            sys.stderr.flush()


class ReadProgress(_Line):
    """Call it with (bytes done, bytes in all)."""

    def __call__(self, done: int, total: int) -> None:
        """Hear that `done` of `total` bytes are read."""
        if self._due():
            share = f"{100 * done / total:3.0f} % of {total / 1e6:,.0f} MB" if total else f"{done / 1e6:,.0f} MB"
            self._say(f"reading: {share}")


class RowProgress(_Line):
    """Call it with the number of samples read so far."""

    def __call__(self, count: int) -> None:
        """Hear that `count` samples are read."""
        if count % 256 == 0 and self._due():
            self._say(f"reading: {count:,} samples")


class SharedProgress(_Line):
    """Call it with the training rows that one of several processes compared since it spoke last."""

    def __init__(self, processes: int) -> None:
        super().__init__()
        self._processes = processes
        self._rows = 0

    def __call__(self, rows: int) -> None:
        """Hear of `rows` more; the other processes do about as many."""
        self._rows += rows * self._processes
        if self._due():
            self._say(f"compared: about {self._rows:,} training rows")
