"""Planted faults are named in files as rollouts write them: chat messages, and text with a chat template's tags."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tests.audit.planted_agent_conduct
import tests.audit.planted_agent_outcomes  # noqa: F401
from firstbreak.audit.reading.api import read_samples
from firstbreak.audit.sample import Sample, ToolCall
from tests.audit.agent_tables import alarms, fired, table_of
from tests.audit.planted_agents import CASES, healthy


def common(sample: Sample) -> dict[str, Any]:
    return {"reward": sample.reward, "success": sample.success, "group": sample.group, "step": sample.step}


def messages(sample: Sample) -> dict[str, Any]:
    """As the chat interface of a model server holds it, outcomes with the tool's message."""
    found: list[dict[str, Any]] = []
    waiting: list[ToolCall] = []
    for turn in sample.turns:
        entry: dict[str, Any] = {"role": turn.role, "content": turn.text}
        if turn.calls:
            waiting = list(turn.calls)
            entry["tool_calls"] = [{"function": {"name": c.name, "arguments": c.arguments}} for c in turn.calls]
        if turn.role == "tool":
            call = waiting.pop(0)
            entry |= {"is_error": call.failed, "state_changed": call.changed, "cost": call.cost}
        found.append(entry)
    return {"messages": found, **common(sample)}


def tagged(sample: Sample) -> dict[str, Any]:
    """As a dump of decoded text holds it."""
    parts: list[str] = []
    for turn in sample.turns[2:]:
        if turn.role == "tool":
            parts.append(f"<|im_start|>user\n<tool_response>\n{turn.text}\n</tool_response><|im_end|>\n")
            continue
        calls = [json.dumps({"name": c.name, "arguments": json.loads(c.arguments)}) for c in turn.calls]
        text = turn.text + "".join(f"\n<tool_call>\n{c}\n</tool_call>" for c in calls)
        parts.append(f"<|im_start|>assistant\n{text}<|im_end|>\n")
    prompt = "\n".join(t.text for t in sample.turns[:2])
    return {"prompt": prompt, "response": "".join(parts), **common(sample)}


def reread(samples: list[Sample], write: Callable[[Sample], dict[str, Any]], folder: Path) -> list[Sample]:
    path = folder / "rollouts.jsonl"
    path.write_text("\n".join(json.dumps(write(s)) for s in samples))
    return list(read_samples(path))


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("claims-done-unchanged", "claims-done-state-unchanged"),
        ("failed-recorded-as-success", "failed-call-logged-as-success"),
        ("cost-up-success-flat", "cost-grows-without-success"),
        ("unknown-tool", "tool-calls-illegal"),
    ],
)
def test_faults_are_named_in_chat_messages(name: str, check: str, tmp_path: Path) -> None:
    assert check in fired(table_of(reread(CASES[name, "fault"](), messages, tmp_path)))
    assert check not in fired(table_of(reread(CASES[name, "twin"](), messages, tmp_path)))


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("unknown-tool", "tool-calls-illegal"),
        ("never-recovers", "failing-call-retried"),
        ("invented-result", "tool-result-invented"),
        ("echoed-output", "tool-output-echoed"),
        ("checker-edited", "checker-tampered"),
    ],
)
def test_faults_are_named_in_decoded_text(name: str, check: str, tmp_path: Path) -> None:
    assert check in fired(table_of(reread(CASES[name, "fault"](), tagged, tmp_path)))
    assert check not in fired(table_of(reread(CASES[name, "twin"](), tagged, tmp_path)))


@pytest.mark.parametrize("write", [messages, tagged])
def test_honest_rollouts_raise_no_alarm(write: Callable[[Sample], dict[str, Any]], tmp_path: Path) -> None:
    assert alarms(table_of(reread(healthy(3), write, tmp_path))) == {}
