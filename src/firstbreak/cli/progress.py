"""A line that says how far a long read has come: on a terminal only, and only after a second."""

from __future__ import annotations

import sys
import time

PATIENCE_S = 1.0
"""Reads shorter than this show nothing."""
REFRESH_S = 0.1


class ReadProgress:
    """Call it with (bytes done, bytes in all); use it as a context manager so that the line is wiped."""

    def __init__(self, *, wanted: bool = True) -> None:
        self._shown = False
        self._on = wanted and sys.stderr.isatty()
        self._start = time.monotonic()
        self._last = self._start

    def __call__(self, done: int, total: int) -> None:
        """Hear that `done` of `total` bytes are read."""
        now = time.monotonic()
        if not self._on or now - self._start < PATIENCE_S or now - self._last < REFRESH_S:
            return
        self._last = now
        share = f"{100 * done / total:3.0f} % of {total / 1e6:,.0f} MB" if total else f"{done / 1e6:,.0f} MB"
        sys.stderr.write(f"\rreading: {share}")
        sys.stderr.flush()
        self._shown = True

    def __enter__(self) -> ReadProgress:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * 40 + "\r")
            sys.stderr.flush()
