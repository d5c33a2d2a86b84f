"""Lines that a hand-written loop prints: `step: 200 | reward: 12.5 | loss: 0.1`, `ep 10 | ret 12.3`, a printed
dictionary, what tqdm shows behind its bar, and the like.

No logger fixes such lines, so little is taken for granted: a line counts when it names a step and something else, and
only lines whose names come again are rows. A banner, a progress message or a list of settings is printed once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

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
_WORDS = r"[A-Za-z][\w/.\-]*(?: [A-Za-z][\w/.\-]*)?"
_IN_TURN = re.compile(rf"^\W*(?:{_WORDS}(?:\s*[:=]\s*|\s+)(?:{_NUMBER})(?:[\s,]+|$)){{2,}}$", re.I)
"""`Episode 10 Reward 12.5 Avg loss 0.1`, `Episode Num: 3 Reward: 12.5`: one or two words and a number in turn, to the
end."""
_WORD_NUMBER = re.compile(rf"(?P<name>{_WORDS})(?:\s*[:=]\s*|\s+)(?P<value>{_NUMBER})(?=[\s,]|$)", re.I)
_SOURCE = re.compile(r"\b[\w/.]+\.py:\d+\b:?")
"""Where in the code a logger was called."""
_OF = re.compile(r"^\s*\d+\s*/\s*\d+\s*$")
_THOUSANDS = re.compile(r"(?<![\w.,])(?<!e[-+])\d{1,3}(?:,\d{3})+(?![\d,])")
"""`10,000`: groups of three that nothing parts, not entries of a list."""
_SHORTENED = re.compile(r"(?<![\w.])(?P<number>\d+(?:\.\d+)?)(?P<times>[kKM])(?![\w/])")
"""`12k`, `1.5M`; a small `m` would be minutes or metres."""
_BAR = re.compile(r"\|\s*(?P<value>\d+)(?:/\d+)? \[\d+:\d\d[^,\]]*,")
"""tqdm's bar up to its speed; what the loop shows (`set_postfix`) stands behind."""
_SPACE = re.compile(r"(?<=[A-Za-z)\]])\s*(?P<sign>[:=])\s+")
"""Room around the sign between a name and a number, which columns are aligned by; not a cut."""
LOGGER = re.compile(
    r"^(?:[IWE]\d{4} [^\]]*\]|\d{4}-\d\d-\d\d[ T][\d:.,]+|(?:DEBUG|INFO|WARNING)(?::[\w.]+:|(?=\W))|[\s:|-](?!\d))+",
    re.I,
)
"""What a logger puts before the text: glog's head, the time, the level."""
_HEAD = re.compile(r"^\W*\[(?P<inside>[^\[\]]*)\]\s*")
"""`[iter 10]`, `[Learner]`: a part of its own."""
_NUMBERED = re.compile(r"^(?P<count>\W*[A-Za-z]+\s*#?\s*\d+(?:\s*/\s*\d+)?)\s*(?:[:\u2013>]|->?)\s+(?=[A-Za-z])")
"""`Epoch #3: loss: 0.1`: likewise."""
_WRAPPED = re.compile(rf"(?:np\.\w+|tensor|array)\(\[?({_NUMBER})\]?(?:, [^()]*)?\)", re.I)
"""A number as NumPy and PyTorch print it in a dictionary."""


def pairs_of(line: str) -> dict[str, str]:
    """Return the names and numbers that `line` pairs, none where it names no step or nothing else."""
    if len(line) > MAX_LINE:
        return {}
    bar = _BAR.search(line)
    found = {"step": bar["value"]} if bar is not None else {}
    text = _SOURCE.sub("", LOGGER.sub("", line)) if bar is None else line[bar.end() :]
    if "'" in text or '"' in text:  # a printed dictionary
        text = text.replace("'", "").replace('"', "")
    if "(" in text:
        text = _WRAPPED.sub(r"\1", text)
    text = spelled_out(text)
    pairs = _in_turn(text)
    if not pairs:
        parts = [part.strip() for part in _CUT.split(parted(text))]
        several = sum(bool(part) for part in parts) > 1
        pairs = [pair for part in parts for pair in _in_turn(part) or _in_part(part, several=several)]
    for name, value in pairs:
        found.setdefault(name, value)
    steps = sum(plain(name) in STEP_NAMES for name in found)
    return found if 0 < steps < len(found) else {}


def spelled_out(text: str) -> str:
    """Return `text` with numbers written in full: `1,234.5` would be read as 1, and `12k` as 12."""
    text = _THOUSANDS.sub(lambda found: found[0].replace(",", ""), text)
    return _SHORTENED.sub(
        lambda found: f"{float(found['number']) * (1e6 if found['times'] == 'M' else 1e3):.12g}", text
    )


def _in_turn(text: str) -> list[tuple[str, str]]:
    """Return the pairs of a text that is nothing but words and numbers in turn."""
    if not _IN_TURN.match(text):
        return []
    return [(match["name"], match["value"]) for match in _WORD_NUMBER.finditer(text)]


def parted(text: str) -> str:
    """Return `text` with what stands before its pairs cut off by a bar, and one blank around signs."""
    text = _HEAD.sub(
        lambda head: f"{'step ' if _OF.match(head['inside']) else ''}{head['inside'].strip()} | ",
        _SPACE.sub(r"\g<sign> ", text),
    )
    count = _NUMBERED.match(text)
    if count is not None and plain(count["count"].strip(" #0123456789/[(")) in STEP_NAMES:
        return f"{' '.join(count['count'].replace('#', ' ').split())} | {text[count.end() :]}"
    return text


def pair_of(line: str) -> tuple[str, str] | None:
    """Return the one name and number that `line` pairs; None where it pairs none or several."""
    text = spelled_out(_SPACE.sub(r"\g<sign> ", line.strip()))
    found = [] if _CUT.search(text) else _in_part(text, several=False)
    return found[0] if len(found) == 1 else None


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


class Rows:
    """Collects rows of which the same layout comes at least `LEAST` times; its first ones wait until then."""

    def __init__(self) -> None:
        self.columns = Columns()
        self._count: Counter[tuple[str, ...]] = Counter()
        self._waiting: dict[tuple[str, ...], list[list[str]]] = {}

    def add(self, row: Mapping[str, str]) -> None:
        """Take one row."""
        layout = tuple(row)
        self._count[layout] += 1
        if self._count[layout] < LEAST:
            self._waiting.setdefault(layout, []).append(list(row.values()))
            return
        for waited in self._waiting.pop(layout, []):
            self.columns.add(layout, waited)
        self.columns.add(layout, list(row.values()))


class Pairs:
    """Collects lines of several pairs."""

    def __init__(self) -> None:
        self.rows = Rows()

    def hear(self, line: str) -> None:
        """Take one line."""
        row = pairs_of(line)
        if row:
            self.rows.add(row)
