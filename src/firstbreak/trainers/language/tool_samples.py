"""Episodes of the tool-using agent as JSON lines, which `firstbreak audit` reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .sampling import Row
from .symbols import decode
from .tool_world import Episode

Record = Callable[[Sequence[dict[str, Any]]], None]
"""Gets the samples of an update."""


def record_jsonl(path: str | Path) -> Record:
    """Return a `record` that appends one line a sample to `path`; a file that exists is written anew."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("", encoding="utf-8")

    def record(samples: Sequence[dict[str, Any]]) -> None:
        with path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(sample) + "\n" for sample in samples)

    return record


def as_sample(episode: Episode, *, reward: float, step: int, scores: Mapping[str, float]) -> dict[str, Any]:
    """The episode as one JSON object: conversation with calls, reward and its parts, success, tokens, versions."""
    row = episode.row
    own_versions = [version for version, own in zip(row.versions, row.own, strict=True) if own]
    return {
        "messages": messages(episode),
        "reward": reward,
        **{f"reward_{name}": score for name, score in scores.items()},
        "success": episode.success,
        "claims_done": episode.claims,
        "group": str(row.group),
        "step": step,
        "truncated": not row.ended,
        "stop_reason": "eos" if row.ended else "length",
        "length_tokens": len(row.tokens),
        "own_tokens": row.length,
        "answer": episode.errand.answer,
        "category": episode.errand.kind,
        "prompt_ids": list(row.prompt),
        "response_ids": row.tokens,
        "loss_mask": [int(own) for own in row.own],
        "logprobs": row.log_probs,
        "first_version": own_versions[0],
        "last_version": own_versions[-1],
    }


def messages(episode: Episode) -> list[dict[str, Any]]:
    """The conversation: the errand, what the agent wrote turn by turn with its calls, and what the tools said."""
    said: list[dict[str, Any]] = [{"role": "user", "content": episode.errand.prompt}]
    for turn, text in enumerate(own_parts(episode.row)):
        calls = [
            {
                "id": f"call_{turn}",
                "name": call.name,
                "arguments": call.arguments,
                "result": call.result,
                "failed": call.failed,
                "changed": call.changed,
            }
            for call in episode.calls
            if call.turn == turn
        ]
        said.append({"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})})
        said += [{"role": "tool", "tool_call_id": call["id"], "content": call["result"]} for call in calls]
    return said


def own_parts(row: Row) -> list[str]:
    """What the agent wrote, one text a turn."""
    parts: list[list[int]] = [[]]
    for token, own, following in zip(row.tokens, row.own, [*row.own[1:], True], strict=True):
        if own:
            parts[-1].append(token)
        elif following:
            parts.append([])
    return [decode(part) for part in parts]
