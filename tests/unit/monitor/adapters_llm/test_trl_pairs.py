"""Rows of the loss held against the pairs that were scored."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

from firstbreak.monitor.adapters.parts.trl.batches import OFF
from firstbreak.monitor.adapters.parts.trl.pairs import SWAPPED, VARIES, Pairs

PAD, END = 0, 9
PROMPTS = ["a", "b", "c", "d"]
ANSWERS = [[3, END], [4, 4, END], [5, END], [6, 6, 6]]


def trainer() -> Any:
    def tokens(text: list[str]) -> dict[str, Any]:
        return {"input_ids": [[10 + ord(letter) for letter in one] for one in text]}

    return SimpleNamespace(processing_class=tokens, _calculate_rewards=lambda *_: None)


def batch(prompts: list[str], answers: list[list[int]]) -> dict[str, Any]:
    asked = [[10 + ord(letter) for letter in prompt] for prompt in prompts]
    wide, long = max(map(len, asked)), max(map(len, answers))
    return {
        "prompt_ids": torch.tensor([[PAD] * (wide - len(row)) + row for row in asked]),
        "prompt_mask": torch.tensor([[0] * (wide - len(row)) + [1] * len(row) for row in asked]),
        "completion_ids": torch.tensor([row + [PAD] * (long - len(row)) for row in answers]),
    }


def looked(pairs: Pairs, subject: Any, found: dict[str, Any], prompts: list[str] = PROMPTS) -> dict[str, float]:
    pairs.begin(PAD)
    subject._calculate_rewards([], prompts, [], ANSWERS)
    return pairs.end(found)


def test_each_response_after_the_prompt_that_it_answered():
    subject = trainer()
    pairs = Pairs(subject)
    assert looked(pairs, subject, batch(PROMPTS, ANSWERS)) == {SWAPPED: 0.0, VARIES: 0.0, OFF: 0.0}


def test_rows_in_another_order_with_their_responses_are_still_pairs():
    subject = trainer()
    pairs = Pairs(subject)
    row = looked(pairs, subject, batch(PROMPTS[::-1], ANSWERS[::-1]))
    assert (row[SWAPPED], row[OFF]) == (0.0, 0.0)


def test_prompts_of_other_rows_are_seen():
    subject = trainer()
    pairs = Pairs(subject)
    assert looked(pairs, subject, batch(PROMPTS[1:] + PROMPTS[:1], ANSWERS))[SWAPPED] == 1.0


def test_a_prompt_that_grows_by_what_came_before_varies_and_a_prefix_that_stays_does_not():
    subject = trainer()
    pairs = Pairs(subject)
    prefixed = batch(["x" + prompt for prompt in PROMPTS], ANSWERS)
    for _ in range(2):
        assert looked(pairs, subject, prefixed) == {SWAPPED: 0.0, VARIES: 0.0, OFF: 1.0}
    assert looked(pairs, subject, batch(["y" + prompt for prompt in PROMPTS], ANSWERS))[VARIES] == 1.0


def test_messages_are_compared_with_what_they_became_before():
    subject = trainer()
    pairs = Pairs(subject)
    talks: Any = [[{"role": "user", "content": prompt}] for prompt in PROMPTS]
    assert looked(pairs, subject, batch(PROMPTS, ANSWERS), talks) == {SWAPPED: 0.0, VARIES: 0.0}
    assert looked(pairs, subject, batch(["z" + p for p in PROMPTS], ANSWERS), talks)[VARIES] == 1.0


def test_nothing_is_said_of_responses_that_tools_wrote_or_that_nobody_scored():
    subject = trainer()
    pairs = Pairs(subject)
    assert looked(pairs, subject, {**batch(PROMPTS, ANSWERS), "tool_mask": torch.ones(4, 3)}) == {}
    pairs.begin(PAD)
    assert pairs.end(batch(PROMPTS, ANSWERS)) == {}
