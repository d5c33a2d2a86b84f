"""What people save of OpenRLHF: its batch inference (`input`, `output`, `reward`) and fields of its experiences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...sample import Sample
from ..protocol import Dump, Source
from ..rows import Row, columns_in, is_lines, objects, samples

_FIELDS = frozenset({"sequences", "action_mask", "rollout_log_probs", "action_log_probs", "total_length"})

_USUAL = {
    "prompts": "prompt", "labels": "answer", "rewards": "reward", "sequences": "token_ids", "input": "prompt",
    "output": "response", "action_log_probs": "policy_logprobs",
}  # fmt: skip


def _sniff(path: Path, head: bytes) -> float:
    if not is_lines(path):
        return 0.0
    names = columns_in(head)
    if len(names & _FIELDS) >= 2:
        return 0.8
    return 0.4 if {"input", "output"} <= names <= {"input", "output", "reward"} else 0.0


def _shape(row: Row) -> Row:
    """Return the row under the usual names; `labels` are reference answers, `action_mask` marks trained tokens."""
    named = dict(row)
    for own, usual in _USUAL.items():
        if own in named:
            named[usual] = named.pop(own)
    for name in ("prompt", "answer"):
        cell = named.get(name)
        if isinstance(cell, list) and len(cell) == 1:  # pyright: ignore[reportUnknownArgumentType]
            named[name] = cell[0]
    return named


def _read(source: Source) -> Iterator[Sample]:
    return samples(source, objects(source), _shape)


DUMP = Dump("openrlhf", "OpenRLHF samples", _sniff, _read, framework="openrlhf", verified=False)
