"""One JSON list of objects, or one object that holds such a list."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from ....errors import InputError
from ....preflight.data.reading import WHOLE_JSON_BYTES
from ...sample import Sample
from ..lines import opened
from ..protocol import Dump, Source
from ..roles import looks_like_samples
from ..rows import Row, as_is, columns_in, ending, samples


def _sniff(path: Path, head: bytes) -> float:
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if ending(path) != ".json" or not start.startswith(b"["):
        return 0.0
    return 0.6 if looks_like_samples(columns_in(start.lstrip(b"[ \t\r\n"))) else 0.3


def loaded(source: Source) -> Any:
    """Return the whole of a JSON file.

    Raises:
        InputError: it is too large to be held in memory, or not JSON.
    """
    with opened(source.path) as stream:
        raw = stream.read(WHOLE_JSON_BYTES + 1)
    if len(raw) > WHOLE_JSON_BYTES:
        raise InputError(
            f"{source.path}: one JSON value of more than {WHOLE_JSON_BYTES >> 20} MiB.",
            "Write it as JSON lines, one object a line; that can be read in bounded memory.",
        )
    try:
        return json.loads(raw.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source.path}: not valid JSON.", "Write it as JSON lines, one object a line.") from error


def entries(source: Source, found: list[Any]) -> Iterator[tuple[int, Row]]:
    """Yield the objects of a list with their places; what is no object is counted."""
    for place, one in enumerate(found):
        if isinstance(one, dict):
            yield place, cast(Row, one)
        else:
            source.report.refuse(source.name, place, "valid JSON, but not an object")


def _read(source: Source) -> Iterator[Sample]:
    found = loaded(source)
    return samples(source, entries(source, cast("list[Any]", found) if isinstance(found, list) else []), as_is)


DUMP = Dump("json", "one JSON list", _sniff, _read)
