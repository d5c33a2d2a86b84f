"""ROLL's `rollout_dump_data.step_<N>.jsonl`: one line a step, each column a list with an entry for every sample."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from ...sample import Sample
from ..protocol import Dump, Source
from ..rows import Row, columns_in, objects, samples

_NAME = re.compile(r"rollout_dump_data\.step_(\d{1,9})\.jsonl")


def _sniff(path: Path, head: bytes) -> float:
    if _NAME.match(path.name):
        return 0.95
    return 0.7 if {"responses", "scores", "sampling_params", "global_step"} <= columns_in(head) else 0.0


def _unpacked(source: Source) -> Iterator[tuple[int, Row]]:
    """Yield the samples of every table; one whose columns differ in length is refused as a whole."""
    place = 0
    for _, table in objects(source):
        columns = {key: cast("list[Any]", value) for key, value in table.items() if isinstance(value, list)}
        sizes = {len(values) for values in columns.values()}
        if len(sizes) != 1:
            source.report.refuse(source.name, place, "the columns of a table differ in length")
            place += 1
            continue
        for i in range(sizes.pop()):
            yield place, {key: values[i] for key, values in columns.items()}
            place += 1


def _shape(row: Row) -> Row:
    """Return a sample; ROLL's `id` names the prompt, its sampling parameters are of no use here."""
    named = {"group" if key == "id" else key: value for key, value in row.items() if key != "sampling_params"}
    named["category"] = row.get("domain") or row.get("tag") or row.get("source")
    if isinstance(row.get("trajectory_data"), str) and "messages" not in row:
        named["messages"] = row["trajectory_data"]
    return named


def _read(source: Source) -> Iterator[Sample]:
    return samples(source, _unpacked(source), _shape)


DUMP = Dump("roll", "ROLL rollout tables", _sniff, _read, framework="roll", verified=False)
