"""JSON lines: one object a step, flat or nested, as many loops write it; also verl's `file` logger and prime-rl."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from ..errors import InputError
from ..runlog import Recording
from .jsonrows import Row, flatten, parse, read_rows
from .protocol import Options, Reader
from .step_axis import STEP_NAMES, plain, recording_of
from .textfile import HEAD_BYTES, head_lines

ENDINGS = frozenset({".jsonl", ".ndjson", ".json", ".jsonlines"})
SAMPLE_KEYS = frozenset(
    {"prompt", "completion", "response", "input", "output", "messages", "token_ids", "text", "content", "input_prompt",
     "output_response", "prompt_tokens", "response_tokens"}
)  # fmt: skip
"""Keys of behaviour samples: a file with these holds what the model did, not metrics."""
LONGEST_FIRST = 8 << 20
"""How much is looked at where one row fills the usual head, in bytes: some 200,000 metrics. Engineering default."""
ROWS_AFTER_A_CUT = 3
"""Rows on end that must follow a first line that is none. Engineering default: a list over several lines, which is no
log, has commas between its objects."""


def sniff(path: Path) -> float:
    """Say how surely `path` holds rows of metrics, from its first rows."""
    if path.suffix.lower() not in ENDINGS:
        return 0.0
    lines = [line for line in opening(path) if line.strip()]
    row = first_row(lines)
    if row is None:
        return 0.0
    if holds_samples(row):
        return 0.05
    if len(lines) == 1 and path.suffix.lower() == ".json":
        return 0.05  # one object: far more likely a configuration
    flat = flatten(row)
    if not any(isinstance(value, (int, float)) for value in flat.values()):
        return 0.1
    return 0.6 if any(plain(key) in STEP_NAMES for key in flat) else 0.3


def opening(path: Path) -> list[str]:
    """Return the first lines of `path`, the first of them whole: one row of thousands of metrics is long."""
    lines = head_lines(path)
    return lines if len(lines) != 1 or len(lines[0]) < HEAD_BYTES // 4 else head_lines(path, LONGEST_FIRST)


def first_row(lines: Sequence[str]) -> Row | None:
    """Return the first row. A first line that is cut off, as rotation leaves it, is passed over where rows follow."""
    row = parse(lines[0]) if lines else None
    if row is not None or len(lines) <= ROWS_AFTER_A_CUT:
        return row
    after = [parse(line) for line in lines[1 : 1 + ROWS_AFTER_A_CUT]]
    return after[0] if None not in after else None


def holds_samples(row: Row) -> bool:
    """Whether `row` is a behaviour sample (prompt, response, ...) rather than metrics."""
    return any(isinstance(row.get(key), (str, list)) for key in SAMPLE_KEYS)


def unwrap(row: Row) -> Row:
    """Flatten a row; the metrics of verl's `{"step": n, "data": {...}}` lose their prefix."""
    data = row.get("data")
    if isinstance(data, dict) and row.keys() <= {"step", "data"}:
        inner = cast(dict[str, Any], data)
        row = {**inner, "step": row["step"]} if "step" in row else inner
    return flatten(row)


def read(path: Path, options: Options) -> Recording:
    """Read one JSON object a line."""
    columns, problems, _ = read_rows(path, options, unwrap)
    found = recording_of(columns, path, READER.name)
    found.problems.extend(problems)
    if not found.curves:
        raise InputError(
            f"{path}: no numbers in it.",
            'A metrics file in JSON lines has one object a line, such as {"step": 1, "loss": 0.5}.',
        )
    return found


READER = Reader("jsonl", "JSON lines", sniff, read, rank=50)
