"""`Console`: notices on the standard error stream."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from ...finding import Severity
from ..verdict import Notice
from .plain import brief, clip, printable, wrap

_COLOUR = {Severity.ERROR: "31;1", Severity.WARNING: "33;1", Severity.INFO: "36"}
_WIDTH = 80
_LONGEST = 2000
"""Characters of a notice's text that are shown."""


class Console:
    """Prints notices in 80 columns, with colour on a terminal only (and not where NO_COLOR is set).

    Args:
        stream: Where to print; the standard error stream of the moment when not given.
    """

    per_minute: int | None = None

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream

    def send(self, notice: Notice) -> None:
        """Print `notice`."""
        stream = self._stream or sys.stderr
        level = notice.level.value.upper()
        first, *rest = _lines(notice, level)
        if stream.isatty() and not os.environ.get("NO_COLOR"):
            first = f"\x1b[{_COLOUR[notice.level]}m{level}\x1b[0m{first.removeprefix(level)}"
        coding = getattr(stream, "encoding", None) or "utf-8"
        text = "\n".join([first, *rest]) + "\n"
        stream.write(text.encode(coding, "backslashreplace").decode(coding))
        stream.flush()


def _lines(notice: Notice, level: str) -> list[str]:
    lines = wrap(f"{level} {brief(notice.title, 240)}", _WIDTH, "  ")
    for line in clip(notice.text, _LONGEST).split("\n"):
        if line.strip():
            lines += [f"  {part}" for part in wrap(printable(line), _WIDTH - 2)]
    run = f"run {notice.run}, " if notice.run else ""
    last = f"{run}{notice.place}, rule {notice.name} ({notice.rule})"
    return lines + [f"  {part}" for part in wrap(brief(last, 240), _WIDTH - 2)]
