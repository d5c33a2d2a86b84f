"""slime's rollouts as JSON (`{"rollout_id": ..., "samples": [...]}`). Its own `.pt` dumps are pickles: never opened."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from ...sample import Sample
from ..protocol import Dump, Source
from ..rows import Row, columns_in, is_lines, objects, samples
from ..values import mapping
from .json_list import loaded


def _sniff(path: Path, head: bytes) -> float:
    if not is_lines(path):
        return 0.0
    names = columns_in(head)
    return 0.9 if {"rollout_id", "samples"} <= names else 0.85 if {"response", "rollout_log_probs"} <= names else 0.0


def _unpacked(source: Source) -> Iterator[tuple[int, Row]]:
    whole = loaded(source) if source.path.name.endswith(".json") else None
    dumps = [(0, cast(Row, whole))] if isinstance(whole, dict) else objects(source)
    place = 0
    for _, dump in dumps:
        held = dump.get("samples")
        for one in cast("list[Any]", held) if isinstance(held, list) else [dump]:
            if isinstance(one, dict):
                yield place, {"step": dump.get("rollout_id"), **cast(Row, one)}
            else:
                source.report.refuse(source.name, place, "valid JSON, but not an object")
            place += 1


def _shape(row: Row) -> Row:
    """Return a sample: `index` tells samples apart, `group_index` prompts; `label` is the reference answer."""
    named = {key: value for key, value in row.items() if key not in {"metadata", "index"}}
    reward = row.get("reward")
    parts = mapping(reward)
    if parts is not None:
        named["reward"] = parts.get("score", parts.get("reward"))
        named["reward_parts"] = dict(parts)
    named["answer"], named["group"] = named.pop("label", None), named.pop("group_index", None)
    status = row.get("status")
    named["stop_reason"] = cast("dict[str, Any]", status).get("value") if isinstance(status, dict) else status
    return named


def _read(source: Source) -> Iterator[Sample]:
    return samples(source, _unpacked(source), _shape)


DUMP = Dump("slime", "slime rollouts as JSON", _sniff, _read, framework="slime", verified=False)
