"""JSON lines of one's own: one object a sample."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...sample import Sample
from ..protocol import Dump, Source
from ..roles import looks_like_samples
from ..rows import as_is, columns_in, is_lines, objects, samples


def _sniff(path: Path, head: bytes) -> float:
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not is_lines(path) or (text.startswith(b"[") and not _list_among_objects(text)):
        return 0.0
    return 0.6 if looks_like_samples(columns_in(head)) else 0.3


def _list_among_objects(text: bytes) -> bool:
    """Whether the first line is a whole list and the next an object: a row of another schema, not a list of samples."""
    found: list[Any] = []
    for line in text.split(b"\n", 2)[:2]:
        try:
            found.append(json.loads(line))
        except (ValueError, RecursionError):
            return False
    return [type(value) for value in found] == [list, dict]


def _read(source: Source) -> Iterator[Sample]:
    return samples(source, objects(source), as_is)


DUMP = Dump("jsonl", "JSON lines", _sniff, _read)
