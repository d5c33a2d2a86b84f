"""CSV and TSV with a header."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from ....readers.textfile import MAX_LINE
from ...sample import Sample
from ..lines import lines_of
from ..protocol import Dump, Source
from ..roles import looks_like_samples
from ..rows import OVERLONG, Row, as_is, ending, samples

DELIMITERS = {".csv": ",", ".tsv": "\t"}


def _sniff(path: Path, head: bytes) -> float:
    delimiter = DELIMITERS.get(ending(path))
    if delimiter is None:
        return 0.0
    first = head.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0].decode("utf-8", "replace")
    try:
        names = list(csv.reader([first.replace("\0", "")], delimiter=delimiter))
    except csv.Error:
        return 0.0
    return 0.6 if looks_like_samples(frozenset(name.strip() for name in names[0]) if names else frozenset()) else 0.3


def _text(source: Source) -> Iterator[str]:
    for line in lines_of(source.path, lambda why: source.report.note(f"{source.name}: {why}"), keep_ends=True):
        if line is None:
            source.report.refuse(source.name, -1, OVERLONG)
        else:
            yield line.decode("utf-8", "replace").replace("\0", "")


def _rows(source: Source) -> Iterator[tuple[int, Row]]:
    before = csv.field_size_limit(MAX_LINE)
    try:
        cells = csv.reader(_text(source), delimiter=DELIMITERS[ending(source.path)])
        header: list[str] | None = None
        place = -1
        while True:
            try:
                values = next(cells, None)
            except csv.Error:
                place += 1
                source.report.refuse(source.name, place, "not a row of a table (quotes, or a cell beyond 64 MiB)")
                continue
            if values is None:
                return
            if header is None:
                header = [name.strip() for name in values] or None
            elif values:
                place += 1
                if len(values) == len(header):
                    yield place, dict(zip(header, values, strict=True))
                else:
                    source.report.refuse(source.name, place, "not as many cells as the header has names")
    finally:
        csv.field_size_limit(before)


def _read(source: Source) -> Iterator[Sample]:
    return samples(source, _rows(source), as_is, spelled=True)


DUMP = Dump("csv", "CSV or TSV", _sniff, _read)
