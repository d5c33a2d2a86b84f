"""Conversations: lists of messages in the two usual spellings, and what of them is a prompt and what a reply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from .text import part_of

_SPEAKERS = {"human": "user", "gpt": "assistant", "model": "assistant", "bot": "assistant", "function": "tool",
             "ipython": "tool", "observation": "tool", "tool_response": "tool", "environment": "tool",
             "function_response": "tool"}  # fmt: skip
_FLAGS = ("train", "loss", "weight", "trainable", "mask_in")


@dataclass(frozen=True, slots=True)
class Turn:
    """One message: who speaks, whether it says anything, and whether the file marks it as trained on."""

    speaker: str
    empty: bool
    trained: bool | None = None


def messages_in(value: Any) -> list[dict[str, Any]] | None:
    """Return `value` as a list of messages, None when it is none."""
    if not isinstance(value, list) or not value:
        return None
    entries = cast("list[Any]", value)
    if not all(isinstance(e, dict) and ({"role", "from"} & cast("dict[str, Any]", e).keys()) for e in entries):
        return None
    return cast("list[dict[str, Any]]", entries)


def speaker_of(message: dict[str, Any]) -> str:
    """Return user, assistant, system or tool, or the name as it stands."""
    name = str(message.get("role", message.get("from", ""))).lower()
    return _SPEAKERS.get(name, name)


def turn_of(message: dict[str, Any]) -> Turn:
    """Return what the checks need of one message."""
    said = part_of(message)
    flags = [message[f] for f in _FLAGS if isinstance(message.get(f), (bool, int, float))]
    called = bool(message.get("tool_calls"))
    return Turn(
        speaker_of(message), (said is None or not said.strip()) and not called, bool(flags[0]) if flags else None
    )


def split(messages: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the messages before the last reply of the assistant, and that reply."""
    start = len(messages)
    while start > 0 and speaker_of(messages[start - 1]) == "assistant":
        start -= 1
    return messages[:start], messages[start:]


def said(messages: list[dict[str, Any]]) -> str:
    """Return what the messages say, who says it left out."""
    return "\n".join(part_of(m) or "" for m in messages)
