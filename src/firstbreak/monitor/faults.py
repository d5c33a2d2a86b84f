"""What went wrong in the monitor itself: kept, and said once. None of it can stop a run."""

from __future__ import annotations

import sys
from collections import deque

MOST = 100
"""Faults that are kept. Engineering choice: whoever reads on has seen enough."""
ENDS = "training ends"
"""How a sentence begins that says so; all others are said with the comfort that training goes on."""
FORKED = (
    "this process was forked from the one with the Monitor: its rows are recorded, not judged; "
    "make a Monitor in the process that trains"
)
COPIED = (
    "this is a copy of a Monitor (a spawned process or a pickle): its rows are neither recorded nor told to anyone; "
    "make a Monitor in the process that trains"
)
CLOSED = (
    "a row was logged after close(): it is recorded and judged, but no alert is sent any more; "
    "close the Monitor when training is over"
)


class Faults:
    """Call it with a sentence. `kept` holds each once, oldest first."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.unrecorded: deque[str] = deque()
        """Those that are not in the record yet. Not written at once: it may be the record itself that complains."""

    def __call__(self, text: str) -> None:
        """Keep a fault of the monitor, and say it on stderr the first time; `""` is none."""
        if text and text not in self.kept and len(self.kept) < MOST:
            self.kept.append(text)
            self.unrecorded.append(text)
            _say(text)


def _say(text: str) -> None:
    """Say on stderr what is wrong, in one line; other control characters are shown, not sent."""
    plain = "".join(c if c.isprintable() else " " if c == "\n" else repr(c)[1:-1] for c in text)
    so = "" if text.startswith(ENDS) else " (training goes on)"
    try:
        sys.stderr.write(f"firstbreak monitor: {plain[:500]}{so}\n")
    except (OSError, ValueError, AttributeError):  # no stderr: a daemon, or one closed
        return
