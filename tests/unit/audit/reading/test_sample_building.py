"""Columns by their usual names, chats, tool calls and traces of agents as samples."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.audit.reading.build import Builder, NoSampleError
from firstbreak.audit.reading.chat import turns_of
from firstbreak.audit.reading.report import ReadReport
from firstbreak.audit.reading.roles import NAMES
from firstbreak.audit.reading.values import decimals, number, total, truth, whole_numbers
from firstbreak.audit.sample import Sample


def build(row: dict[str, Any], **options: Any) -> Sample:
    return Builder(ReadReport(), **options).build(row, 0, "x")


@pytest.mark.parametrize("name", [n for n in NAMES["prompt"] if n not in NAMES["answer"]])
def test_a_prompt_is_found_under_every_usual_name(name: str) -> None:
    assert build({name: "Q", "response": "A"}).prompt == "Q"


@pytest.mark.parametrize("name", NAMES["response"])
def test_a_response_is_found_under_every_usual_name(name: str) -> None:
    assert build({"prompt": "Q", name.upper(): "A"}).response == "A"


@pytest.mark.parametrize("name", NAMES["reward"])
def test_a_reward_is_found_under_every_usual_name(name: str) -> None:
    assert build({"prompt": "Q", "response": "A", name: 0.5}).reward == 0.5


def test_the_reward_comes_before_a_score_and_the_score_is_kept() -> None:
    one = build({"prompt": "Q", "response": "A", "score": 3, "reward": 1, "fluency": 2, "acc": True, "id": 7, "x": "9"})
    assert one.reward == 1
    assert one.scores == {"score": 3.0, "fluency": 2.0, "acc": 1.0}


def test_rewards_of_steps_are_summed_and_named_ones_weighed() -> None:
    row = {"prompt": "Q", "response": "A"}
    assert build({**row, "rewards": [0, 0.5, 1]}).reward == 1.5
    named = build({**row, "rewards": {"a": 1.0, "b": {"score": 2.0, "weight": 0.25}}})
    assert named.reward == 1.5
    assert named.scores == {"rewards.a": 1.0, "rewards.b": 0.5}


def test_a_label_is_a_human_score_or_an_answer_by_what_it_holds() -> None:
    row = {"prompt": "Q", "response": "A"}
    assert (build({**row, "label": 1}).human, build({**row, "label": 1}).answer) == (1.0, "")
    text = build({**row, "label": "Paris"})
    assert math.isnan(text.human)
    assert text.answer == "Paris"
    assert build({**row, "label": "no"}).human == 0.0


@pytest.mark.parametrize(
    ("reason", "cut"),
    [("length", True), ("MAX_TOKENS", True), ("stop", False), ("eos", False), ("content_filter", None), ("", None)],
)
def test_a_reason_to_stop_says_whether_the_response_was_cut(reason: str, cut: bool | None) -> None:
    assert build({"prompt": "Q", "response": "A", "finish_reason": reason}).truncated is cut


def test_flags_and_versions() -> None:
    one = build({"prompt": "Q", "response": "A", "solved": "yes", "should_refuse": 1, "truncated": False,
                 "versions": [3, 3, 4], "step": "12", "advantages": [0.5, 0.5], "data_source": "maths",
                 "completion_tokens": 7, "prompt_id": "p1"})  # fmt: skip
    assert (one.success, one.unsafe, one.truncated, one.versions) == (True, True, False, (3, 4))
    assert (one.step, one.advantage, one.category, one.length_tokens, one.group) == (12, 0.5, "maths", 7, "12/p1")


def test_without_a_name_the_prompt_is_the_group() -> None:
    assert build({"prompt": "Q", "response": "A"}).group == "Q"


def test_a_row_that_is_no_sample_says_what_it_lacks() -> None:
    for row in ({}, {"loss": 1.0}, {"prompt": "Q"}, {"response": None, "reward": 1}):
        with pytest.raises(NoSampleError):
            build(row)


CALLS = [
    {"role": "system", "content": "be good"},
    {"role": "user", "content": [{"type": "text", "text": "weather?"}]},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "get", "arguments": "{\"city\": \"Bonn\"}"}},
        {"id": "b", "type": "function", "function": {"name": "get", "arguments": {"city": "Ulm"}}}]},
    {"role": "tool", "tool_call_id": "b", "content": "no such city", "error": True, "cost": 0.5},
    {"role": "tool", "tool_call_id": "a", "content": "sunny", "state_changed": False},
    {"role": "assistant", "content": "sunny"},
]  # fmt: skip


def test_openai_tool_calls_get_their_results_by_identity() -> None:
    one = build({"messages": CALLS, "reward": 1})
    assert one.prompt == "be good\nweather?"
    assert one.response == "sunny"
    assert [turn.role for turn in one.turns] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    first, second = one.turns[2].calls
    assert (first.name, first.arguments, first.result) == ("get", '{"city": "Bonn"}', "sunny")
    assert (first.failed, first.changed, first.turn) == (None, False, 2)
    assert (second.result, second.failed, second.cost) == ("no such city", True, 0.5)
    assert json.loads(second.arguments) == {"city": "Ulm"}


def test_a_chat_that_a_table_holds_as_text_is_the_same() -> None:
    assert build({"messages": json.dumps(CALLS)}).turns == build({"messages": CALLS}).turns


def test_anthropic_blocks_and_results_in_order() -> None:
    turns = turns_of([
        {"role": "user", "content": "do it"},
        {"role": "assistant", "content": [{"type": "text", "text": "ok"},
                                          {"type": "tool_use", "id": "t", "name": "run", "input": {"x": 1}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "is_error": True,
                                      "content": [{"type": "text", "text": "boom"}]}]},
        {"from": "gpt", "value": "", "function_call": {"name": "go", "arguments": "{}"}},
        {"from": "function_response", "value": "went"},
    ])  # fmt: skip
    (call,) = turns[1].calls
    assert (turns[1].text, call.name, call.arguments, call.result, call.failed) == (
        "ok",
        "run",
        '{"x": 1}',
        "boom",
        True,
    )
    assert turns[3].calls[0].name == "go"
    assert turns[4].role == "tool"


def test_prompt_and_completion_as_messages_keep_only_the_completion_as_response() -> None:
    history = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "hello"},
        {"role": "user", "content": "2+2?"},
    ]
    one = build({"prompt": history, "completion": [{"role": "assistant", "content": "4"}], "reward": 1})
    assert one.prompt == "hi\nhello\n2+2?"
    assert one.response == "4"
    assert len(one.turns) == 4


def test_a_prompt_of_text_before_a_completion_of_messages() -> None:
    one = build({"prompt": "weather?", "completion": CALLS[2:], "reward": 1})
    assert (one.prompt, one.response) == ("weather?", "sunny")
    assert [call.turn for turn in one.turns for call in turn.calls] == [1, 1]


def test_a_prompt_of_messages_without_any_response_is_no_sample() -> None:
    with pytest.raises(NoSampleError):
        build({"prompt": CALLS[:2], "reward": 1})


def test_a_trace_of_steps_with_actions_and_observations() -> None:
    steps = [
        {"thought": "open it", "tool": "open", "args": {"door": 1}, "observation": "locked", "error": "no key",
         "state_changed": False, "reward": 0.0, "cost": 2},
        {"thought": "use key", "action": {"name": "unlock", "arguments": "{}"}, "observation": "open",
         "state_changed": True, "reward": 1.0},
        {"action": "wait", "observation": "", "reward": 0},
    ]  # fmt: skip
    one = build({"task": "door", "goal": "get in", "trajectory": steps, "success": True})
    assert one.reward == 1.0
    assert one.success is True
    assert one.prompt == "get in"
    calls = [call for turn in one.turns for call in turn.calls]
    assert [(c.name, c.failed, c.changed) for c in calls] == [
        ("open", True, False), ("unlock", None, True), ("action", None, None)]  # fmt: skip
    assert calls[0].result == "locked"
    assert calls[0].cost == 2
    assert all(call in one.turns[call.turn].calls for call in calls)
    assert one.response.startswith("open it\nuse key")


def test_tool_calls_in_the_tags_of_chat_templates_become_calls() -> None:
    response = (
        'I look.\n<tool_call>\n{"name": "find", "arguments": {"q": 1}}\n</tool_call><|im_end|>\n<|im_start|>user\n'
        "<tool_response>\nfound it\n</tool_response><|im_end|>\n<|im_start|>assistant\nIt is there."
        "<tool_call>{oops</tool_call>"
    )
    one = build({"input": "where?", "output": response, "score": 1})
    assert [turn.role for turn in one.turns] == ["user", "assistant", "tool", "assistant"]
    first, second = (call for turn in one.turns for call in turn.calls)
    assert (first.name, first.result, first.turn) == ("find", "found it", 1)
    assert (second.name, second.arguments) == ("", "{oops")
    assert one.response == "I look.\nIt is there."


@given(st.lists(st.sampled_from(["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "x", "{}"])))
def test_tags_in_any_order_are_read(parts: list[str]) -> None:
    one = build({"prompt": "Q", "response": "".join(parts)})
    assert all(call.turn == place for place, turn in enumerate(one.turns) for call in turn.calls)


def test_tokens_need_no_texts_and_padding_masks_tell_the_start() -> None:
    one = build({"input_ids": [1, 2, 3, 4], "loss_mask": [0, 0, 1, 1], "logprobs": [0.0, 0.0, -1.0, -2.0]})
    assert one.tokens is not None
    assert (one.tokens.start, one.tokens.logprobs, one.length_tokens) == (2, (-1.0, -2.0), 2)


def test_a_number_called_tokens_is_a_length() -> None:
    one = build({"prompt": "Q", "response": "A", "tokens": 12})
    assert one.tokens is None
    assert one.length_tokens == 12


@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.floats()), st.binary()))
def test_numbers_are_finite_or_nan(cell: Any) -> None:
    for found in (number(cell), total(cell)):
        assert math.isnan(found) or math.isfinite(found)
    assert truth(cell) in {True, False, None}


@given(st.lists(st.integers(-5, 5) | st.booleans() | st.floats(-5, 5), max_size=8))
def test_whole_numbers_are_kept_as_they_are_or_not_at_all(cell: list[Any]) -> None:
    found = whole_numbers(cell)
    if all(float(entry).is_integer() for entry in cell):
        assert found == tuple(int(entry) for entry in cell)
    else:
        assert found is None
    assert decimals(cell) == tuple(float(entry) for entry in cell)
    assert whole_numbers(json.dumps([int(entry) for entry in cell])) == tuple(int(entry) for entry in cell)
    assert whole_numbers(np.array([int(entry) for entry in cell])) == tuple(int(entry) for entry in cell)


names = st.sampled_from(["assistant", "user", "tool", "system", "gpt", "", "x"])
short = st.text(max_size=4)
call = st.dictionaries(st.sampled_from(["id", "function", "name"]), short)
messages = st.lists(
    st.fixed_dictionaries(
        {"role": names},
        optional={
            "content": st.none() | short | st.lists(st.dictionaries(short, short), max_size=2),
            "tool_calls": st.none() | st.lists(call, max_size=2),
            "tool_call_id": short,
            "error": st.none() | st.booleans() | short,
        },
    ),
    max_size=8,
)


@given(messages)
def test_every_message_is_one_turn_and_every_call_knows_its_turn(chat: list[dict[str, Any]]) -> None:
    turns = turns_of(chat)
    assert len(turns) == len(chat)
    assert all(call.turn == place for place, turn in enumerate(turns) for call in turn.calls)
    asked = sum(len(m.get("tool_calls") or []) for m in chat)
    assert sum(len(turn.calls) for turn in turns) == asked
