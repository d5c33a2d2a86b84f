"""Parquet of one's own: one row a sample."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...sample import Sample
from ..parquet_rows import columns_of, rows_of
from ..protocol import Dump, Source
from ..roles import looks_like_samples
from ..rows import as_is, ending, samples


def _sniff(path: Path, head: bytes) -> float:
    if ending(path) != ".parquet" or not head.startswith(b"PAR1"):
        return 0.0
    columns = columns_of(path)
    return 0.6 if columns is None or looks_like_samples(frozenset(columns)) else 0.3


def _read(source: Source) -> Iterator[Sample]:
    return samples(source, rows_of(source), as_is)


DUMP = Dump("parquet", "Parquet", _sniff, _read)
