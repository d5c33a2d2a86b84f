"""AReaL's dumps: `{rollout,eval-rollout}/<version>/<task_id>.jsonl`, each sample with its span of policy versions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...sample import Sample
from ..protocol import Dump, Source
from ..rows import Row, columns_in, objects, samples


def _sniff(path: Path, head: bytes) -> float:
    del path
    names = columns_in(head)
    return 0.95 if {"task_id", "head_version", "tail_version"} <= names else 0.0


def _shape(row: Row) -> Row:
    """Return the row with the version that finished it as its step: AReaL's dump names no other."""
    named = {"step" if key == "tail_version" else key: value for key, value in row.items()}
    return {**named, "tail_version": row.get("tail_version"), "response": row.get("completion")}


def _read(source: Source) -> Iterator[Sample]:
    folders = source.path.parts
    kind = "eval-rollout" if "eval-rollout" in folders else "rollout"
    return samples(source, objects(source), lambda row: {**_shape(row), "category": kind})


DUMP = Dump("areal", "AReaL rollout dump", _sniff, _read, framework="areal", verified=False)
