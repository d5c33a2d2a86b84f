"""Tool calls that a dump holds as text, in the tags of Hermes and Qwen chat templates, as turns and calls."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ..sample import Turn
from .chat import turns_of
from .values import mapping

_TAGS = re.compile(r"(</?tool_call>|</?tool_response>)")
_CHATML = re.compile(r"<\|im_start\|>(?:assistant|user|tool)?\n?|<\|im_end\|>\n?|<\|endoftext\|>")
_ROLE_LINE = re.compile(r"^\s*(?:assistant|user|tool)\s*$", re.MULTILINE)
"""What is left of a chat template's role where special tokens were skipped in decoding."""
MOST_PARTS = 20_000


def has_calls(response: str) -> bool:
    """Whether a response holds tool calls or their results in tags."""
    return "<tool_call>" in response or "<tool_response>" in response


def turns_in(prompt: str, response: str) -> tuple[Turn, ...]:
    """Return the turns that a response with tags holds; a call that is not JSON keeps its text as arguments."""
    opening: list[dict[str, Any]] = [{"role": "user", "content": prompt}] if prompt else []
    return turns_of([*opening, *_messages(response)])


def _messages(response: str) -> Iterator[dict[str, Any]]:
    said: list[str] = []
    calls: list[dict[str, Any]] = []
    inside = ""
    for part in _TAGS.split(response, MOST_PARTS):
        if _TAGS.fullmatch(part):
            inside = "" if part.startswith("</") else part
        elif inside == "<tool_call>":
            calls.append(_call(part))
        elif inside == "<tool_response>":
            if said or calls:
                yield {"role": "assistant", "content": "".join(said), "tool_calls": calls}
                said, calls = [], []
            yield {"role": "tool", "content": part.strip()}
        else:
            words = _ROLE_LINE.sub("", _CHATML.sub("", part)).strip()
            said += [words] if words else []
    if said or calls:
        yield {"role": "assistant", "content": "".join(said), "tool_calls": calls}


def _call(part: str) -> dict[str, Any]:
    try:
        found = mapping(json.loads(part))
    except (ValueError, RecursionError):
        found = None
    return dict(found) if found is not None and "name" in found else {"name": "", "arguments": part.strip()}
