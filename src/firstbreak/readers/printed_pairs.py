"""Lines that a hand-written loop prints: `step: 200 | reward: 12.5 | loss: 0.1`, `ep 10 | ret 12.3`, a printed
dictionary, what tqdm shows behind its bar, and the like.

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
_AFTER = rf"(?:\s*(?:±|\+/-|\+-)\s*(?:{_NUMBER}))?\s*(?:%|[a-z]{{1,3}}(?:/s)?)?[^\w]*$"
"""What may stand behind a number: its spread, its unit, punctuation."""
_PAIR = re.compile(rf"^[^\w\s]*\s*(?P<name>[A-Za-z][\w/. ()\-]*?)\s*[:=]\s*(?P<value>{_NUMBER}){_AFTER}", re.I)
_SPACED = re.compile(rf"^(?P<name>[A-Za-z][\w/.\-]*(?: [A-Za-z][\w/.\-]*)?)\s+(?P<value>{_NUMBER}){_AFTER}", re.I)
"""`ret 12.3`: one or two words and a number, and nothing else."""
_COUNTED = re.compile(
    r"^(?:.*\s|\W*)?(?P<name>[A-Za-z]+)\s*(?:[#:=]|\s)?\s*(?P<value>\d+)(?:\s*/\s*\d+)?[^\w]*$",
)
_TIGHT = re.compile(rf"(?<![\w/.])(?P<name>[A-Za-z][\w/.\-]*)\s?[:=]\s?(?P<value>{_NUMBER})(?=[\s,\])]|$)", re.I)
_IN_TURN = re.compile(rf"^\W*(?:[A-Za-z][\w/.\-]*\s+(?:{_NUMBER})(?:\s+|$)){{2,}}$", re.I)
"""`Episode 10 Reward 12.5 Loss 0.1`: words and numbers in turn to the end of the line."""
_WORD_NUMBER = re.compile(rf"(?P<name>[A-Za-z][\w/.\-]*)\s+(?P<value>{_NUMBER})(?=\s|$)", re.I)
_BAR = re.compile(r"\|\s*(?P<value>\d+)(?:/\d+)? \[\d+:\d\d[^,\]]*,")
"""tqdm's bar up to its speed; what the loop shows (`set_postfix`) stands behind."""
_WRAPPED = re.compile(rf"(?:np\.\w+|tensor|array)\(\[?({_NUMBER})\]?(?:, [^()]*)?\)", re.I)
"""A number as NumPy and PyTorch print it in a dictionary."""


def pairs_of(line: str) -> dict[str, str]:
    """Return the names and numbers that `line` pairs, none where it names no step or nothing else."""
    if len(line) > MAX_LINE:
        return {}
    bar = _BAR.search(line)
    found = {"step": bar["value"]} if bar is not None else {}
    text = line if bar is None else line[bar.end() :]
    if "'" in text or '"' in text:  # a printed dictionary
        text = text.replace("'", "").replace('"', "")
    if "(" in text:
        text = _WRAPPED.sub(r"\1", text)
    if _IN_TURN.match(text):
        pairs = [(match["name"], match["value"]) for match in _WORD_NUMBER.finditer(text)]
    else:
        parts = [part.strip() for part in _CUT.split(text)]
        several = sum(bool(part) for part in parts) > 1
        pairs = [pair for part in parts for pair in _in_part(part, several=several)]
    for name, value in pairs:
        found.setdefault(name, value)
    steps = sum(plain(name) in STEP_NAMES for name in found)
    return found if 0 < steps < len(found) else {}


def _in_part(part: str, *, several: bool) -> list[tuple[str, str]]:
    """Return the pairs in one part of a line; `several`: the line is cut into more than one."""
    whole = _PAIR.match(part)
    if whole is not None and ":" not in whole["name"]:
        return [(whole["name"].strip(), whole["value"])]
    counted = _COUNTED.match(part)
    if counted is not None and plain(counted["name"]) in STEP_NAMES:
        return [(counted["name"], counted["value"])]
    spaced = _SPACED.match(part) if several else None
    if spaced is not None:
        return [(spaced["name"], spaced["value"])]
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
