"""One line of firstbreak's own record: a JSON object that ends in a checksum of what stands before it.

`{"seq":7,"kind":"metrics",...,"crc":"0a1b2c3d"}`: a line that a crash tore or a disk damaged does not match it.
"""

from __future__ import annotations

import json
import re
import zlib
from typing import Any, cast

FORMAT = "firstbreak.record/1"
FOLDER = "firstbreak"
"""The folder in a run's folder that holds its record."""
NAME = re.compile(r"record-(?P<rank>\d+)-(?P<part>\d{5,})\.jsonl")
"""File names: the rank, and which part of its record it is; parts are numbered in the order of their opening."""
_MARK = b',"crc":"'
_TAIL = len(_MARK) + len(b'00000000"}')


def part_name(rank: int, part: int) -> str:
    """Return the file name of a part."""
    return f"record-{rank}-{part:05d}.jsonl"


def seal(body: bytes) -> bytes:
    """Return the line whose object begins with `body`, a JSON object without its closing brace."""
    return b'%b,"crc":"%08x"}\n' % (body, zlib.crc32(body))


def unseal(line: bytes) -> dict[str, Any] | None:
    """Return the object on a complete `line`, or None where the line is torn or damaged."""
    if not line.endswith(b'"}\n'):
        return None
    body, mark, rest = line[: -_TAIL - 1], line[-_TAIL - 1 : -_TAIL - 1 + len(_MARK)], line[-len(b'00000000"}\n') :]
    if mark != _MARK or rest != b'%08x"}\n' % zlib.crc32(body):
        return None
    try:
        value = json.loads(body + b"}")
    except (ValueError, RecursionError):  # sealed by somebody else: whatever it is, it is not a record
        return None
    return cast(dict[str, Any], value) if isinstance(value, dict) else None
