"""What a loop of one's own prints one number a line: blocks of `name: number` lines, of which one names a step.

    Episode 10
    reward: 12.5
    loss: 0.1

A block ends where one of its names comes again. Blocks of one layout that come `LEAST` times are rows, as lines of
pairs are (`printed_pairs`).
"""

from __future__ import annotations

import re

from .printed_pairs import LOGGER, MAX_LINE, Rows, pair_of
from .step_axis import STEP_NAMES, plain

MOST = 60
"""Names in a block from which on it is a configuration rather than a row. Engineering default."""
_TAG = re.compile(r"^\s*\[[^\]]*\]\s*")


class Blocks:
    """Collects such rows."""

    def __init__(self) -> None:
        self.rows = Rows()
        self._row: dict[str, str] = {}

    def hear(self, line: str) -> None:
        """Take one line; one without exactly one pair says nothing."""
        pair = pair_of(LOGGER.sub("", _TAG.sub("", LOGGER.sub("", line)))) if len(line) <= MAX_LINE else None
        if pair is None:
            return
        name, value = pair
        if name in self._row:
            self.finish()
        self._row[name] = value

    def finish(self) -> None:
        """Close the block that is open."""
        row, self._row = self._row, {}
        steps = sum(plain(name) in STEP_NAMES for name in row)
        if 0 < steps < len(row) <= MOST:
            self.rows.add(row)
