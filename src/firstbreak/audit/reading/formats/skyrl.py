"""SkyRL's evaluation dumps: `dumped_evals/global_step_<N>_evals/<data set>.jsonl`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ...sample import Sample
from ..protocol import Dump, Source
from ..rows import Row, columns_in, objects, samples
from ..values import mapping

_STEP = re.compile(r"global_step_(\d{1,9})")


def _sniff(path: Path, head: bytes) -> float:
    del path
    names = columns_in(head)
    return 0.95 if {"input_prompt", "output_response"} <= names else 0.0


def _read(source: Source) -> Iterator[Sample]:
    found = _STEP.search(source.path.parent.name)
    step = float(found[1]) if found else None

    def shape(row: Row) -> Row:
        extras = mapping(row.get("env_extras")) or {}
        info = mapping(extras.get("extra_info")) or {}
        model = mapping(extras.get("reward_model") or extras.get("reward_spec")) or {}
        answer = model.get("ground_truth", info.get("answer"))
        category = row.get("data_source") or row.get("env_class")
        return {**row, "step": row.get("step", step), "answer": answer, "category": category, "env_extras": None}

    return samples(source, objects(source), shape)


DUMP = Dump("skyrl", "SkyRL evaluation dump", _sniff, _read, framework="skyrl", verified=False)
