"""open-instruct's traces (`--save_traces`): `<run>_rollouts_<NNNNNN>.jsonl`, tokens without texts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...sample import Sample
from ..protocol import Dump, Source
from ..rows import Row, columns_in, objects, samples
from ..values import mapping, number, text, truth


def _sniff(path: Path, head: bytes) -> float:
    del path
    names = columns_in(head)
    return 0.95 if {"prompt_tokens", "response_tokens", "prompt_idx"} <= names else 0.0


def _shape(row: Row) -> Row:
    """Return the row with its tool use as numbers; a prompt's index is its place in the batch of one step."""
    info = mapping(row.get("request_info")) or {}
    dataset = row.get("dataset")
    answer = row.get("ground_truth")
    shaped: Row = {
        "step": row.get("step"), "group": row.get("prompt_idx"), "prompt_ids": row.get("prompt_tokens"),
        "response_ids": row.get("response_tokens"), "reward": row.get("reward"), "advantage": row.get("advantage"),
        "finish_reason": row.get("finish_reason"), "category": text(dataset), "logprobs": row.get("logprobs"),
        "answer": answer if isinstance(answer, str) else None,
    }  # fmt: skip
    for name in ("num_calls", "timeouts"):
        shaped[f"tool.{name}"] = number(info.get(name))
    errors = info.get("tool_errors")
    if errors is not None:
        shaped["tool.had_error"] = float(bool(errors))
    called = truth(info.get("tool_calleds"))
    shaped["tool.called"] = None if called is None else float(called)
    return shaped


def _read(source: Source) -> Iterator[Sample]:
    source.report.note("open-instruct's traces hold token ids and no texts: measures of text cannot be taken.")
    return samples(source, objects(source), _shape)


DUMP = Dump("open-instruct", "open-instruct traces", _sniff, _read, framework="open-instruct", verified=False)
