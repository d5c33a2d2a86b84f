"""Messages in OpenAI's, Anthropic's and ShareGPT's spelling as turns and tool calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from ...preflight.data.turns import messages_in, speaker_of
from ..sample import Role, ToolCall, Turn
from .values import decoded, mapping, number, text, truth

MOST_TURNS = 10_000
"""Messages of one conversation that are kept."""
_ROLES: dict[str, Role] = {
    "system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool",
    "environment": "tool", "env": "tool", "agent": "assistant", "ai": "assistant",
}  # fmt: skip
_FAILED = ("failed", "error", "is_error", "has_error", "tool_error", "exception")
_WORKED = ("success", "ok", "succeeded")
_CHANGED = ("state_changed", "changed", "env_changed", "effect")
_COST = ("cost", "duration_s", "duration", "runtime", "latency", "time_s", "elapsed_s", "seconds")
_BAD = frozenset({"error", "failed", "failure", "timeout"})
_GOOD = frozenset({"ok", "success", "succeeded"})
_NONE_FAILED = frozenset({"", "none", "null", "false", "no", "ok", "0", "success"})


def conversation(value: Any) -> list[dict[str, Any]] | None:
    """Return messages, also where a table holds them as JSON; None when the cell holds none."""
    return messages_in(decoded(value))


def turns_of(messages: Sequence[Mapping[str, Any]]) -> tuple[Turn, ...]:
    """Return the turns of a conversation, each tool's result with the call that asked for it."""
    turns: list[Turn] = []
    waiting: dict[str, tuple[int, int]] = {}
    for message in messages[:MOST_TURNS]:
        speaker = _ROLES.get(speaker_of(dict(message)), "user")
        words, calls, results = _parts(message, len(turns))
        for result in results if speaker != "tool" else [*results, dict(message)]:
            _answer(turns, waiting, result)
        for place, (key, _) in enumerate(calls):
            waiting[key or f"#{len(turns)}.{place}"] = (len(turns), place)
        turns.append(Turn(speaker, words, tuple(call for _, call in calls)))
    return tuple(turns)


def _parts(message: Mapping[str, Any], turn: int) -> tuple[str, list[tuple[str, ToolCall]], list[Mapping[str, Any]]]:
    """Return what a message says, the calls in it with their identities, and the results in it."""
    content = message.get("content", message.get("value", message.get("text")))
    calls: list[tuple[str, ToolCall]] = []
    results: list[Mapping[str, Any]] = []
    said: list[str] = []
    thought = message.get("reasoning_content", message.get("reasoning", message.get("thinking")))
    if isinstance(thought, str) and thought:
        said.append(text(thought))
    for part in cast("list[Any]", content) if isinstance(content, list) else [content]:
        if not isinstance(part, dict):
            said.append(text(part))
            continue
        piece = cast("dict[str, Any]", part)
        if piece.get("type") == "tool_use":
            calls.append((text(piece.get("id")), call_of(piece, turn)))
        elif piece.get("type") == "tool_result":
            results.append(piece)
        else:
            said.append(text(piece.get("text", piece.get("content"))))
    asked = decoded(message.get("tool_calls")) or message.get("function_call")
    for one in cast("list[Any]", asked) if isinstance(asked, list) else [asked]:
        found = mapping(one)
        if found is not None:
            calls.append((text(found.get("id")), call_of(found, turn)))
    return "\n".join(words for words in said if words), calls, results


def call_of(value: Mapping[str, Any], turn: int) -> ToolCall:
    """Return a call of a tool from the object that describes it."""
    inner = mapping(value.get("function")) or value
    name = inner.get("name", inner.get("tool", inner.get("tool_name", value.get("function"))))
    arguments = inner.get("arguments", inner.get("args", inner.get("input", inner.get("parameters"))))
    call = ToolCall(text(name) if not isinstance(name, dict) else "", text(arguments), turn=turn)
    return with_outcome(call, value)


def with_outcome(call: ToolCall, value: Mapping[str, Any]) -> ToolCall:
    """Return the call with what `value` says of its result, failure, effect and cost; the rest as it was."""
    result = next((value[key] for key in ("result", "output", "observation", "content") if key in value), None)
    failed = _failed(value)
    changed = next((truth(value[key]) for key in _CHANGED if key in value), None)
    cost = next((number(value[key]) for key in _COST if key in value), call.cost)
    return replace(
        call,
        result=_result(result) or call.result,
        failed=call.failed if failed is None else failed,
        changed=call.changed if changed is None else changed,
        cost=cost,
    )


def _failed(value: Mapping[str, Any]) -> bool | None:
    """Whether an outcome reports a failure; None where it says nothing of it."""
    for key in _FAILED:
        said = _is_fault(value.get(key))
        if said is not None:
            return said
    for key in _WORKED:
        said = truth(value.get(key))
        if said is not None:
            return not said
    status = text(value.get("status"))[:16].lower()
    return True if status in _BAD else False if status in _GOOD else None


def _is_fault(cell: Any) -> bool | None:
    if isinstance(cell, str):
        return cell[:16].strip().lower() not in _NONE_FAILED
    return bool(cast("Any", cell)) if isinstance(cell, (dict, list)) else truth(cell)


def _result(value: Any) -> str:
    if isinstance(value, list):
        parts = cast("list[Any]", value)
        if parts and all(isinstance(part, dict) for part in parts):
            return "\n".join(text(cast("dict[str, Any]", part).get("text")) for part in parts)
    return text(value)


def _answer(turns: list[Turn], waiting: dict[str, tuple[int, int]], result: Mapping[str, Any]) -> None:
    """Write a tool's result into the call that asked for it: by its identity, else the first that still waits."""
    key = text(result.get("tool_call_id", result.get("tool_use_id", "")))
    key = key if key in waiting else next(iter(waiting), "")
    if key in waiting:
        turn, place = waiting.pop(key)
        calls = list(turns[turn].calls)
        calls[place] = with_outcome(calls[place], result)
        turns[turn] = replace(turns[turn], calls=tuple(calls))


def asked_and_said(turns: Sequence[Turn]) -> tuple[str, str]:
    """Return what stands before the model's first turn, and all that the model said."""
    first = next((i for i, turn in enumerate(turns) if turn.role == "assistant"), len(turns))
    prompt = "\n".join(turn.text for turn in turns[:first])
    return prompt, "\n".join(turn.text for turn in turns if turn.role == "assistant" and turn.text)
