"""verl's rollout and validation dumps: `<rollout_data_dir>/<step>.jsonl`, without a name for the prompt's group."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ...sample import Sample
from ..protocol import Dump, Source
from ..rows import Row, columns_in, objects, samples, stem

_NAME = re.compile(r"\d{1,9}$")


def _sniff(path: Path, head: bytes) -> float:
    names = columns_in(head)
    if not {"input", "output"} <= names and not ("input" in names and _NAME.match(stem(path))):
        return 0.0
    if _NAME.match(stem(path)):
        return 0.9 if path.name.endswith((".jsonl", ".jsonl.gz")) else 0.0
    return 0.85 if {"score", "gts", "step"} <= names else 0.0


def _read(source: Source) -> Iterator[Sample]:
    name = stem(source.path)
    step = float(name) if _NAME.match(name) else None

    def shape(row: Row) -> Row:
        named = {{"input": "prompt", "output": "response", "gts": "answer", "score": "reward"}.get(k, k): row[k]
                 for k in row}  # fmt: skip
        if named.get("step") is None and step is not None:
            named["step"] = step
        return named

    return samples(source, objects(source), shape)


DUMP = Dump("verl", "verl rollout dump", _sniff, _read, framework="verl", verified=False)
