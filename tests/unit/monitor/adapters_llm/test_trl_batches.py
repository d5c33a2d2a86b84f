"""What of a batch was there before, and whether a prompt still becomes the tokens that it did."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from firstbreak.monitor.adapters.parts.trl.batches import Batches, Template
from firstbreak.monitor.adapters.parts.trl.data import how_many

PAD = 0
AGAIN, EXPECTED, REPEATED = "data/prompt_repeat_frac", "data/prompt_repeat_expected_frac", "data/repeat_fraction"


def batch(prompts: list[int], answers: list[list[int]], left: int = 0) -> dict[str, Any]:
    """Two responses to each prompt; `left` more columns of padding."""
    asked = [[PAD] * left + [prompt, 7] for prompt in prompts for _ in range(2)]
    said = [[token, PAD] for group in answers for token in group]
    return {"prompt_ids": torch.tensor(asked), "completion_ids": torch.tensor(said)}


def test_prompts_of_the_batch_before_are_counted_beside_what_chance_gives():
    batches = Batches()
    batches.prompts_in_all = 20
    assert AGAIN not in batches.note(batch([1, 2], [[3, 4], [3, 5]]), 2, PAD)
    row = batches.note(batch([2, 9], [[3, 4], [3, 5]], left=3), 2, PAD)
    assert (row[AGAIN], row[EXPECTED]) == (0.5, 0.1)
    assert batches.note(batch([5, 6], [[3, 4], [3, 5]]), 2, PAD)[AGAIN] == 0.0


def test_prompts_of_an_unknown_data_set_are_not_judged():
    batches = Batches()
    for _ in range(2):
        assert batches.note(batch([1, 2], [[3, 4], [3, 5]]), 2, PAD).keys() == {REPEATED}


def test_a_batch_that_comes_back_later_is_a_repeat_and_the_same_prompts_answered_anew_are_none():
    batches = Batches()
    one, other = batch([1, 2], [[3, 4], [3, 5]]), batch([1, 2], [[4, 3], [3, 5]])
    found = [
        batches.note(which, 2, PAD)[REPEATED] for which in (one, other, one, batch([1, 2], [[3, 4], [3, 5]], left=2))
    ]
    assert found == [0.0, 0.0, 1.0, 1.0]


def test_a_policy_without_doubt_repeats_itself_and_that_says_nothing():
    batches = Batches()
    for _ in range(2):
        assert REPEATED not in batches.note(batch([1, 2], [[3, 3], [4, 5]]), 2, PAD)


class Tokenizer:
    def __call__(self, text: list[str]) -> dict[str, list[list[int]]]:
        return {"input_ids": [[ord(c) for c in one] for one in text]}


def trainer(prefix: list[str]) -> Any:
    """Puts `prefix[0]` before each prompt."""
    tokenizer = Tokenizer()

    def make(prompts: list[Any]) -> Any:
        texts = [prompt if isinstance(prompt, str) else prompt[0]["content"] for prompt in prompts]
        return tokenizer([prefix[0] + text for text in texts])["input_ids"], None, {}

    return SimpleNamespace(_tokenize_prompts=make, processing_class=tokenizer)


def test_a_template_that_changes_shows_at_the_next_batch():
    prefix = [""]
    template = Template(trainer(prefix))
    assert template.note([{"prompt": "ab"}]) == {"data/template_changed": 0.0, "data/prompt_tokens_off": 0.0}
    assert template.note([{"prompt": "other"}])["data/template_changed"] == 0.0
    prefix[0] = "~"
    assert template.note([{"prompt": "ab"}]) == {"data/template_changed": 1.0, "data/prompt_tokens_off": 1.0}


def test_messages_have_a_template_of_their_own():
    turns = [{"role": "user", "content": "ab"}]
    assert Template(trainer(["<user>"])).note([{"prompt": turns}]) == {"data/template_changed": 0.0}


@pytest.mark.parametrize("prompt", [[{"role": "user", "content": [{"type": "image"}]}], None, 3])
def test_what_is_no_text_is_left_alone(prompt: Any):
    assert Template(trainer([""])).note([{"prompt": prompt}]) == {}
    assert Template(SimpleNamespace()).note([{"prompt": "ab"}]) == {}


@pytest.mark.full
def test_different_prompts_are_counted_once():
    from datasets import Dataset

    assert how_many(Dataset.from_list([{"prompt": p} for p in ("a", "b", "a")])) == 2
    assert how_many(Dataset.from_list([{"text": "a"}])) is None
    assert how_many(iter([])) is None


def test_groups_of_an_earlier_batch_are_told_from_the_same_prompts_answered_anew():
    def groups(*rows: tuple[int, list[int]]) -> dict[str, Any]:
        return {
            "prompt_ids": torch.tensor([[prompt, 7] for prompt, said in rows for _ in said]),
            "completion_ids": torch.tensor([[token, PAD] for _, said in rows for token in said]),
        }

    batches, name = Batches(), "data/group_repeat_frac"
    assert batches.note(groups((1, [3, 4, 5, 3]), (2, [3, 3, 4, 6])), 4, PAD)[name] == 0.0
    assert batches.note(groups((1, [4, 3, 5, 3]), (3, [3, 3, 4, 6])), 4, PAD)[name] == 0.0
    assert batches.note(groups((1, [3, 4, 5, 3]), (4, [3, 8, 4, 6])), 4, PAD)[name] == 0.5
    # Of two different responses a sure policy may give the same group again: nothing is said.
    assert name not in batches.note(groups((5, [3, 4, 3, 3]), (6, [3, 3, 3, 4])), 4, PAD)
