"""Traces of agents as lists of steps (what was done, what came back) as turns and tool calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ..sample import NAN, ToolCall, Turn
from .chat import call_of, with_outcome
from .values import decoded, mapping, text, total

_SAID = ("thought", "response", "model_output", "completion", "message", "content", "text", "output_text", "llm_output")
_DONE = ("action", "tool_call", "call", "function_call")
_BACK = ("observation", "result", "tool_output", "observations", "next_observation", "env_output", "obs", "output")
_NAMED = ("tool", "tool_name", "name", "function", "action_type")
_MARKS = frozenset({*_DONE, *_BACK, *_NAMED, "tool_calls", "state_changed"})
MOST_STEPS = 10_000
"""Steps of one episode that are kept."""


def steps_in(value: Any) -> list[Mapping[str, Any]] | None:
    """Return the steps of an episode, None where the cell holds none."""
    value = decoded(value)
    if not isinstance(value, list) or not value:
        return None
    steps = [mapping(step) for step in cast("list[Any]", value)[:MOST_STEPS]]
    if any(step is None or not (_MARKS & step.keys()) or "role" in step for step in steps):
        return None
    return cast("list[Mapping[str, Any]]", steps)


def turns_of_steps(steps: list[Mapping[str, Any]]) -> tuple[Turn, ...]:
    """Return a turn of the model and, where something came back, a turn of the tool for each step."""
    turns: list[Turn] = []
    for step in steps:
        back = next((text(step[key]) for key in _BACK if step.get(key) is not None), "")
        said = next((text(step[key]) for key in _SAID if isinstance(step.get(key), str)), "")
        turns.append(Turn("assistant", said, _calls(step, back, len(turns))))
        if back:
            turns.append(Turn("tool", back))
    return tuple(turns)


def _calls(step: Mapping[str, Any], back: str, turn: int) -> tuple[ToolCall, ...]:
    listed = decoded(step.get("tool_calls"))
    if isinstance(listed, list):
        found = [mapping(one) for one in cast("list[Any]", listed)]
        return tuple(_outcome(call_of(one, turn), step, back) for one in found if one is not None)
    done = next((decoded(step[key]) for key in _DONE if step.get(key) is not None), None)
    described = mapping(done)
    if described is not None:
        return (_outcome(call_of(described, turn), step, back),)
    name = next((step[key] for key in _NAMED if isinstance(step.get(key), str)), None)
    if name is not None:
        arguments = next((step[key] for key in ("arguments", "args", "input", "parameters") if key in step), done)
        return (_outcome(ToolCall(text(name), text(arguments), turn=turn), step, back),)
    return (_outcome(ToolCall("action", text(done), turn=turn), step, back),) if done is not None else ()


def _outcome(call: ToolCall, step: Mapping[str, Any], back: str) -> ToolCall:
    found = with_outcome(call, {key: value for key, value in step.items() if key not in {"content", "output"}})
    return with_outcome(found, {"result": back}) if back and not found.result else found


def reward_of_steps(steps: list[Mapping[str, Any]]) -> float:
    """Return the sum of the rewards that the steps name, NaN where none does."""
    found = [total(step["reward"]) for step in steps if step.get("reward") is not None]
    return total(found) if found else NAN
