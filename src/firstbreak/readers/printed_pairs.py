"""Lines that a hand-written loop prints: `step: 200 | reward: 12.5 | loss: 0.1`, `Episode 10, return=3`, and the like.

No logger fixes such lines, so little is taken for granted: a line counts when it names a step and something else, and
only lines whose names come again are rows. A banner, a progress message or a list of settings is printed once.
"""

from __future__ import annotations

import re
from collections import Counter

from .columns import Columns
from .step_axis import STEP_NAMES, plain

LEAST = 3
"""Lines with the same names from which on they are rows of metrics. Engineering default."""
MAX_LINE = 4000
_NUMBER = r"[-+]?(?:\d+(?:_\d{3})*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf)"
_CUT = re.compile(r"[|;\t]|,(?=\s|\D)|\s{2,}|\s-\s")
_PAIR = re.compile(
    rf"^[^\w\s]*\s*(?P<name>[A-Za-z][\w/. ()\-]*?)\s*[:=]\s*(?P<value>{_NUMBER})\s*(?:%|[a-z]{{1,3}}(?:/s)?)?[^\w]*$",
    re.I,
)
_COUNTED = re.compile(r"^(?:.*\s|\W*)?(?P<name>[A-Za-z]+)\s*#?\s*(?P<value>\d+)(?:\s*/\s*\d+)?[^\w]*$")
_TIGHT = re.compile(rf"(?<![\w/.])(?P<name>[A-Za-z][\w/.\-]*)\s?[:=]\s?(?P<value>{_NUMBER})(?=[\s,\])]|$)", re.I)


def pairs_of(line: str) -> dict[str, str]:
    """Return the names and numbers that `line` pairs, none where it names no step or nothing else."""
    if len(line) > MAX_LINE:
        return {}
    found: dict[str, str] = {}
    for part in _CUT.split(line):
        for name, value in _in_part(part.strip()):
            found.setdefault(name, value)
    steps = sum(plain(name) in STEP_NAMES for name in found)
    return found if 0 < steps < len(found) else {}


def _in_part(part: str) -> list[tuple[str, str]]:
    whole = _PAIR.match(part)
    if whole is not None and ":" not in whole["name"]:
        return [(whole["name"].strip(), whole["value"])]
    counted = _COUNTED.match(part)
    if counted is not None and plain(counted["name"]) in STEP_NAMES:
        return [(counted["name"], counted["value"])]
    return [(match["name"], match["value"]) for match in _TIGHT.finditer(part)]


class Pairs:
    """Collects such rows. The first lines of a layout wait until it has come `LEAST` times."""

    def __init__(self) -> None:
        self.columns = Columns()
        self._count: Counter[tuple[str, ...]] = Counter()
        self._waiting: dict[tuple[str, ...], list[list[str]]] = {}

    def hear(self, line: str) -> None:
        """Take one line."""
        row = pairs_of(line)
        if not row:
            return
        layout = tuple(row)
        self._count[layout] += 1
        if self._count[layout] < LEAST:
            self._waiting.setdefault(layout, []).append(list(row.values()))
            return
        for waited in self._waiting.pop(layout, []):
            self.columns.add(layout, waited)
        self.columns.add(layout, list(row.values()))
