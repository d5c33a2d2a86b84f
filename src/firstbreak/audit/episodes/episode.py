"""`Episode`: one agent's sample, with its calls read once for all measures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from ..sample import Sample, ToolCall
from .declared import Tools, tools_of
from .failing import says_failed

MOST_CALLS = 2000
"""Calls of an episode that are looked at. Engineering default, far beyond any turn cap."""
LONGEST_ARGUMENTS = 65_536
LONGEST_RESULT = 65_536
"""Characters of a call and of a result that are read. Engineering default."""

_canonical = json.JSONEncoder(sort_keys=True, check_circular=False).encode


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as the measures see it."""

    made: ToolCall
    given: Mapping[str, Any] | None
    """The arguments, or None where they are not a JSON object."""
    key: tuple[str, str]
    """Name and arguments, in one order of keys: equal for calls that ask for the same."""
    says_failed: bool
    """Whether the result reads like a refusal."""

    @property
    def failed(self) -> bool:
        """Whether it failed, by the log or else by its result."""
        return self.says_failed if self.made.failed is None else self.made.failed or self.says_failed

    @property
    def result(self) -> str:
        """What came back, cut."""
        return self.made.result[:LONGEST_RESULT]


@dataclass(frozen=True)
class Episode:
    """The calls and texts of one sample with turns."""

    sample: Sample
    calls: tuple[Call, ...]

    @cached_property
    def tools(self) -> Tools:
        """Tools that the prompt declares; empty where it declares none."""
        head = [t.text for t in self.sample.turns[:2] if t.role in ("system", "user")]
        return tools_of("\n".join([*head, self.sample.prompt]))

    @cached_property
    def said(self) -> tuple[str, ...]:
        """What the model wrote, turn by turn."""
        return tuple(t.text for t in self.sample.turns if t.role == "assistant")

    @property
    def last(self) -> str:
        """The model's last message; empty where the episode ends otherwise than with one."""
        turns = self.sample.turns
        return turns[-1].text if turns and turns[-1].role == "assistant" else ""

    @cached_property
    def asked(self) -> str:
        """All that the user said, with the prompt."""
        return "\n".join([self.sample.prompt, *(t.text for t in self.sample.turns if t.role == "user")])

    @property
    def changes(self) -> float:
        """Calls that changed the state; NaN where the log does not say so of every call."""
        told = [c.made.changed for c in self.calls]
        return float("nan") if any(v is None for v in told) else float(sum(map(bool, told)))


def read(call: ToolCall) -> Call:
    """Return `call` with its arguments parsed and its result judged."""
    written = call.arguments[:LONGEST_ARGUMENTS]
    given: Mapping[str, Any] | None = None
    if not written.strip():
        given = {}
    elif written.lstrip().startswith("{"):
        try:
            parsed = json.loads(written)
        except (ValueError, RecursionError):
            parsed = None
        given = cast(dict[str, Any], parsed) if isinstance(parsed, dict) else None
    canonical = " ".join(written.split()) if given is None else _canonical(given)
    return Call(call, given, (call.name, canonical), says_failed(call.result[:LONGEST_RESULT]))


def episode_of(sample: Sample) -> Episode | None:
    """Return the episode of `sample`; None where it is no conversation. The last one is kept: measures share it."""
    if not sample.turns:
        return None
    if not _LAST or _LAST[0].sample is not sample:
        calls = [c for turn in sample.turns for c in turn.calls][:MOST_CALLS]
        _LAST[:] = [Episode(sample, tuple(read(c) for c in calls))]
    return _LAST[0]


_LAST: list[Episode] = []
