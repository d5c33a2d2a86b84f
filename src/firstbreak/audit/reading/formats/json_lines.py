"""JSON lines of one's own: one object a sample."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...sample import Sample
from ..protocol import Dump, Source
from ..roles import looks_like_samples
from ..rows import as_is, columns_in, is_lines, objects, samples


def _sniff(path: Path, head: bytes) -> float:
    if not is_lines(path) or head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        return 0.0
    return 0.6 if looks_like_samples(columns_in(head)) else 0.3


def _read(source: Source) -> Iterator[Sample]:
    return samples(source, objects(source), as_is)


DUMP = Dump("jsonl", "JSON lines", _sniff, _read)
