"""NeMo-RL's `train_data_step<N>.jsonl` and `val_data_step<N>.jsonl`: a batch of one a line, padded token lists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from ...sample import Sample
from ..chat import conversation
from ..protocol import Dump, Source
from ..rows import Row, columns_in, objects, samples
from ..values import known, number

_NAME = re.compile(r"(train|val)_data_step(\d{1,9})\.jsonl")
_LISTS = ("token_ids", "token_loss_mask", "generation_logprobs", "prev_logprobs", "advantages")


def _sniff(path: Path, head: bytes) -> float:
    names = columns_in(head)
    if _NAME.match(path.name):
        return 0.95
    return 0.9 if {"content", "token_loss_mask"} <= names else 0.0


def _only(value: Any) -> Any:
    """Return the one entry of a batch of one."""
    entries = cast("list[Any]", value) if isinstance(value, list) else None
    return entries[0] if entries is not None and len(entries) == 1 else cast(Any, value)


def shaped(row: Row) -> Row:
    """Return a line without its batch and its padding, the masks of token and sample made one."""
    single = {key: _only(value) for key, value in row.items()}
    content = single.pop("content", None)
    messages = conversation(content)
    out: Row = {"messages": messages} if messages else _spoken(content)
    ids = single.get("token_ids")
    size = number(single.get("input_lengths"))
    if isinstance(ids, list) and not 0 < size <= len(cast("list[Any]", ids)):
        size = float(len(cast("list[Any]", ids)))
    for name in _LISTS:
        entries = single.pop(name, None)
        if isinstance(entries, list):
            single[name] = cast("list[Any]", entries)[: int(size)] if known(size) else entries
        elif entries is not None:
            single[name] = entries
    keep = number(single.pop("sample_loss_mask", None))
    mask = single.pop("token_loss_mask", None)
    advantages = single.pop("advantages", None)
    out |= {
        "reward": single.pop("rewards", None), "advantage": _trained(advantages, mask), "token_ids": ids,
        "loss_mask": mask, "generation_logprobs": single.pop("generation_logprobs", None),
        "sample_loss_mask": keep, "filtered_reward": number(single.pop("filtered_rewards", None)),
        "response_length": float(sum(1 for m in cast("list[Any]", mask) if m)) if isinstance(mask, list) else None,
    }  # fmt: skip
    out["token_ids"] = single.pop("token_ids", ids)
    agent = single.pop("agent_ref", None)
    out["category"] = cast("dict[str, Any]", agent).get("name") if isinstance(agent, dict) else agent
    return out


def _spoken(content: Any) -> Row:
    """Return the texts of the messages, whose speakers the dump does not name: the first is asked, the last answers."""
    parts = [str(p) for p in cast("list[Any]", content)] if isinstance(content, list) else [str(content or "")]
    return {"prompt": "\n".join(parts[:-1]), "response": parts[-1] if parts else ""}


def _trained(advantages: Any, mask: Any) -> Any:
    """Return the advantage of a sample: a number, or the mean over the tokens that are trained on."""
    if not isinstance(advantages, list) or not isinstance(mask, list):
        return cast(Any, advantages)
    pairs = zip(cast("list[Any]", advantages), cast("list[Any]", mask), strict=False)
    trained = [number(value) for value, kept in pairs if kept]
    return sum(trained) / len(trained) if trained else None


def _read(source: Source) -> Iterator[Sample]:
    found = _NAME.match(source.path.name)
    step = float(found[2]) if found else None
    kind = {"train": "train", "val": "validation"}[found[1]] if found else ""

    def shape(row: Row) -> Row:
        whole = shaped(row)
        return {**whole, "step": step, "category": whole.get("category") or kind}

    return samples(source, objects(source), shape)


DUMP = Dump("nemo-rl", "NeMo-RL step data", _sniff, _read, framework="nemo-rl", verified=False)
