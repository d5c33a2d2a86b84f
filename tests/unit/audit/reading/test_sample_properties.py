"""Whatever a file holds, its rows are read or counted, and nothing but our own errors comes out."""

from __future__ import annotations

import contextlib
import json
import math
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak import errors
from firstbreak.audit.reading.api import read_samples
from firstbreak.audit.reading.protocol import Source, all_dumps
from firstbreak.audit.reading.report import ReadReport
from firstbreak.audit.sample import Sample


def read(path: Path) -> tuple[list[Sample], ReadReport]:
    report = ReadReport()
    return list(read_samples(path, report=report)), report


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
columns = st.sampled_from(
    ["prompt", "response", "reward", "messages", "steps", "tokens", "loss_mask", "logprobs", "human", "label", "step",
     "versions", "advantage", "prompt_ids", "response_ids", "tool_calls", "traces", "nodes", "input", "output",
     "samples", "rollout_id", "env", "content", "responses", "scores", "token_loss_mask", "sampling_params",
     "global_step", "score", "head_version", "tail_version", "task_id", "rewards", "action_mask", "sequences",
     "x", "status", "env_extras"]
)  # fmt: skip
rows = st.dictionaries(columns | st.text(max_size=6), anything, max_size=8)


@settings(max_examples=40)
@given(st.lists(rows.map(lambda r: json.dumps(r).encode()) | st.binary(max_size=60), min_size=1, max_size=6))
def test_any_lines_are_read_or_counted(tmp_path_factory: pytest.TempPathFactory, written: list[bytes]) -> None:
    kept = [line.replace(b"\n", b" ").replace(b"\r", b" ") for line in written]
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_bytes(b'{"prompt": "Q", "completion": "A"}\n' + b"\n".join(kept) + b"\n")
    samples, report = read(path)
    blank = sum(not line.strip() for line in kept)
    assert len(samples) == report.rows
    assert report.rows + report.unreadable == 1 + len(kept) - blank
    for sample in samples:
        (sample.prompt + sample.response + sample.group + sample.answer + sample.category).encode()
        assert not any(math.isnan(value) for value in sample.scores.values())


@settings(max_examples=60)
@given(
    rows,
    st.sampled_from(["verl", "areal", "prime-rl", "nemo-rl", "roll", "skyrl", "open-instruct", "openrlhf", "slime"]),
)
def test_no_row_makes_a_format_raise(tmp_path_factory: pytest.TempPathFactory, row: dict[str, Any], name: str) -> None:
    path = tmp_path_factory.getbasetemp() / "traces.jsonl"
    path.write_text(json.dumps(row) + "\n")
    dump = next(dump for dump in all_dumps() if dump.name == name)
    report = ReadReport()
    assert len(list(islice(dump.read(Source(path, "traces.jsonl", report)), 1000))) == report.rows


@given(st.binary(max_size=300), st.sampled_from(["x.csv", "x.parquet", "x.json", "x.jsonl", "1.jsonl", "x.jsonl.gz"]))
def test_any_bytes_raise_only_errors_of_ours(tmp_path_factory: pytest.TempPathFactory, raw: bytes, name: str) -> None:
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(raw)
    with contextlib.suppress(errors.FirstbreakError):
        samples, report = read(path)
        assert len(samples) <= report.rows
