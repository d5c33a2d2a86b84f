"""Labels on disk: one JSON object a line, only ever appended to; the last word of a labeller counts."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

from ...errors import InputError, UnreadableError
from ..sample import Sample

LONGEST_LINE = 65_536
"""Characters of a line that are read; no label is that long."""
LONGEST_NAME = 64


@dataclass(frozen=True)
class Label:
    """What one person said of one sample."""

    content: str
    """Fingerprint of the sample."""
    score: float
    """From 0 (bad) to 1 (good); NaN takes back what was said before."""
    labeller: str
    time: str
    """When, UTC, ISO 8601."""
    also: tuple[str, ...] = ()
    """Fingerprints of near duplicates that the label was given for as well."""
    drawn: bool = False
    """Whether the sample came up at random; otherwise it was chosen for what it shows, or nobody knows."""


@dataclass(frozen=True)
class Labels:
    """All labels of a file: content -> labeller -> score, and how many lines could not be read."""

    scores: dict[str, dict[str, float]]
    lines: int = 0
    unreadable: int = 0
    drawn: frozenset[str] = frozenset()
    """Contents that came up at random."""

    def score(self, content: str) -> float:
        """Return the mean score of a sample over its labellers, NaN where nobody labelled it."""
        given = self.scores.get(content)
        return sum(given.values()) / len(given) if given else math.nan


def fingerprint(sample: Sample) -> str:
    """Return 32 hexadecimal digits for what a labeller sees of a sample: prompt, response, calls and their results.

    Rows, rewards and steps do not enter, so that a label finds its sample in another dump of the same text.
    """
    mark = blake2b(digest_size=16)
    parts = [sample.prompt, sample.response]
    for turn in sample.turns:
        parts += [part for call in turn.calls for part in (call.name, call.arguments, call.result)]
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        mark.update(len(data).to_bytes(8, "big") + data)
    return mark.hexdigest()


def now() -> str:
    """Return the time as labels carry it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def append(path: Path, label: Label) -> None:
    """Write one label to the end of the file and to the disk; a half-written last line is closed first.

    Raises:
        UnreadableError: the file cannot be written.
    """
    entry: dict[str, Any] = {
        "content": label.content,
        "score": None if math.isnan(label.score) else label.score,
        "labeller": label.labeller,
        "time": label.time,
    }
    if label.drawn:
        entry["drawn"] = True
    if label.also:
        entry["also"] = list(label.also)
    line = json.dumps(entry, ensure_ascii=True) + "\n"
    try:
        with path.open("ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                line = line if file.read(1) == b"\n" else "\n" + line
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise UnreadableError(
            f"{path}: cannot be written: {error.strerror}.", "Choose a file in a folder of yours."
        ) from error


def read(path: Path) -> Labels:
    """Read a file of labels, or all `*.jsonl` of a folder; what is no label is counted and left out.

    Raises:
        InputError: there is no such file.
        UnreadableError: it cannot be opened.
    """
    if path.is_dir():
        files = sorted(path.glob("*.jsonl"))
    elif path.is_file():
        files = [path]
    else:
        raise InputError(f"{path}: no file of labels.", "Make one: firstbreak audit label SAMPLES --labels FILE")
    scores: dict[str, dict[str, float]] = {}
    drawn: set[str] = set()
    lines = unreadable = 0
    for file in files:
        for label in _lines(file):
            lines += 1
            if label is None:
                unreadable += 1
                continue
            if label.drawn:
                drawn.add(label.content)
            for content in (label.content, *label.also):
                mine = scores.setdefault(content, {})
                mine.pop(label.labeller, None)
                if not math.isnan(label.score):
                    mine[label.labeller] = label.score
    return Labels({content: given for content, given in scores.items() if given}, lines, unreadable, frozenset(drawn))


def read_some(path: Path) -> Labels:
    """Read labels; a file that has lines and not one label among them is another file than was meant.

    Raises:
        InputError: there is no such file, or it holds something else.
        UnreadableError: it cannot be opened.
    """
    found = read(path)
    if found.lines and found.unreadable == found.lines:
        raise InputError(f"{path}: none of its lines is a label.", "Give a file that `firstbreak audit label` wrote.")
    return found


def _lines(path: Path) -> Iterator[Label | None]:
    try:
        with path.open("rb") as file:
            while line := file.readline(LONGEST_LINE):
                if line.strip():
                    yield parsed(line)
    except OSError as error:
        raise UnreadableError(f"{path}: cannot be read: {error.strerror}.", "Check the permissions.") from error


def parsed(line: bytes) -> Label | None:
    """Return the label in one line, None where there is none."""
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    entry = cast(dict[str, Any], found)
    content, score, labeller = entry.get("content"), entry.get("score"), entry.get("labeller")
    also: Any = entry.get("also", [])
    if not _is_content(content) or not isinstance(labeller, str) or not isinstance(also, list):
        return None
    if isinstance(score, bool) or not (score is None or isinstance(score, (int, float))):
        return None
    if score is not None and not 0 <= score <= 1:
        return None
    more = tuple(str(c) for c in cast(list[Any], also) if _is_content(c))
    value = math.nan if score is None else float(score)
    time = str(entry.get("time", ""))[:40]
    return Label(str(content), value, labeller[:LONGEST_NAME], time, more, entry.get("drawn") is True)


def _is_content(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 32 and all(c in "0123456789abcdef" for c in value)
