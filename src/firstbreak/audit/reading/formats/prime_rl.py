"""prime-rl's `rollouts/step_<N>/{train,eval}/{all,effective}/traces.jsonl`: an episode a line, traces as graphs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from ...sample import Sample
from ..protocol import Dump, Source
from ..rows import Row, columns_in, objects, samples
from ..values import mapping, number

_STEP = re.compile(r"step_(\d{1,9})$")
_CUT = frozenset({"max_turns", "max_input_tokens", "max_output_tokens", "max_total_tokens", "compaction_failed"})
"""Why verifiers stops a trace before its end (verifiers v1, `Trace.is_truncated`)."""


def _sniff(path: Path, head: bytes) -> float:
    names = columns_in(head)
    if not ({"traces", "env"} <= names or {"nodes", "rewards"} <= names or {"traces", "task"} <= names):
        return 0.0
    return 0.95 if path.name == "traces.jsonl" else 0.8


def _unpacked(source: Source) -> Iterator[tuple[int, Row]]:
    """Yield the traces of all episodes; an episode that failed before it had one is counted."""
    place = 0
    for _, line in objects(source):
        traces = line.get("traces")
        held = cast("list[Any]", traces) if isinstance(traces, list) else [line] if "nodes" in line else []
        if not held:
            source.report.refuse(source.name, place, "an episode without a trace (it failed before it began)")
            place += 1
        for trace in held:
            if isinstance(trace, dict):
                yield place, {**cast(Row, trace), "episode": {k: v for k, v in line.items() if k != "traces"}}
            else:
                source.report.refuse(source.name, place, "valid JSON, but not an object")
            place += 1


def _path(nodes: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the nodes from the root to the last leaf."""
    if not nodes:
        return []
    path: list[Mapping[str, Any]] = []
    at: float = len(nodes) - 1
    while 0 <= at < len(nodes) and len(path) <= len(nodes):
        path.append(nodes[int(at)])
        parent = number(nodes[int(at)].get("parent"))
        if parent >= at:
            break
        at = parent
    return path[::-1]


def _lists(path: list[Mapping[str, Any]], name: str) -> list[Any]:
    return [one for node in path if isinstance(node.get(name), list) for one in cast("list[Any]", node[name])]


def _tokens(path: list[Mapping[str, Any]]) -> Row:
    """Return the ids of the whole path, the mask of what was sampled, and the log-probabilities of that."""
    ids, mask, sampled = _lists(path, "token_ids"), _lists(path, "mask"), _lists(path, "logprobs")
    if not ids or len(mask) != len(ids):
        return {}
    row: Row = {"token_ids": ids, "loss_mask": [int(bool(kept)) for kept in mask]}
    if len(sampled) == sum(row["loss_mask"]):
        values = iter(sampled)
        row["logprobs"] = [next(values) if kept else 0.0 for kept in row["loss_mask"]]
    return row


def _messages(path: list[Mapping[str, Any]]) -> list[Row]:
    found = [mapping(node.get("message")) for node in path]
    return [dict(message) for message in found if message is not None and "role" in message]


def _shape(row: Row) -> Row:
    episode, task = mapping(row.get("episode")) or {}, mapping(row.get("task")) or {}
    nodes = row.get("nodes")
    path = _path(
        [n for n in map(mapping, cast("list[Any]", nodes)) if n is not None] if isinstance(nodes, list) else []
    )
    work = mapping((mapping(episode.get("run")) or {}).get("work")) or {}
    span = mapping(work.get("policy")) or {}
    data = mapping(task.get("data")) or {}
    stopped = row.get("stop_condition")
    advantages = [number(a) for a in _lists(path, "advantages")]
    shaped: Row = {
        **_tokens(path), "messages": _messages(path), "reward": _paid(row.get("rewards")),
        "group": (mapping(episode.get("group")) or {}).get("id"), "step": work.get("step"),
        "head_version": span.get("start"), "tail_version": span.get("end"), "stop_reason": stopped,
        "advantage": sum(advantages) / len(advantages) if advantages else None,
        "truncated": stopped in _CUT or _last_finish(row) == "length", "answer": data.get("answer"),
        "category": (mapping(episode.get("env")) or {}).get("name") or (mapping(episode.get("env")) or {}).get("id"),
        "errors": float(len(cast("list[Any]", row["errors"]))) if isinstance(row.get("errors"), list) else None,
    }  # fmt: skip
    for name, value in (mapping(row.get("metrics")) or {}).items():
        shaped[f"metrics.{name}"] = number(value)
    return shaped


def _paid(rewards: Any) -> Any:
    """Return the named rewards that were given; one that scoring never reached is None there."""
    parts = mapping(rewards)
    return rewards if parts is None else {key: value for key, value in parts.items() if value is not None} or None


def _last_finish(row: Row) -> Any:
    calls = row.get("calls")
    listed = [mapping(call) for call in cast("list[Any]", calls)] if isinstance(calls, list) else []
    return next((call.get("finish_reason") for call in reversed(listed) if call and call.get("error") is None), None)


def _read(source: Source) -> Iterator[Sample]:
    steps = [match[1] for part in source.path.parts if (match := _STEP.match(part))]

    def shape(row: Row) -> Row:
        shaped = _shape(row)
        if shaped["step"] is None and steps:
            shaped["step"] = float(steps[-1])
        return shaped

    return samples(source, _unpacked(source), shape)


DUMP = Dump("prime-rl", "prime-rl traces", _sniff, _read, framework="prime-rl", verified=False)
