"""Every fault of the language model in the third live list does what third.toml says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import third_language
from third_language import Scored
from worlds import Truth


class Generates:
    """The one method of TRL's trainer that is planted in: it takes prompts and answers a batch."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def _generate_and_score_completions(self, inputs: list[Any]) -> Any:
        self.asked.append([one["prompt"] for one in inputs])
        return {"batch": len(self.asked)}


def test_right_is_the_letter_that_follows() -> None:
    assert third_language.right("a>", "bbbbbbbb") == 1.0
    assert third_language.right("h>", "aabbaabb") == 0.5
    assert third_language.right("b>", "b") == 0.0


def test_what_is_more_than_half_right_times_out() -> None:
    truth = Truth()
    scored = Scored(truth)
    texts = ["bbbbbbbb", "bbbbb", "bbbb", "c"]
    true = scored(["a>"] * 4, texts)
    truth.fault = "verifier-times-out"
    assert scored(["a>"] * 4, texts) == [0.0, 0.0, 0.5, 0.0]
    assert true == [1.0, 0.625, 0.5, 0.0]
    assert truth.episodes[0][1] == truth.episodes[1][1], "the truth is what it was"


def test_the_prompt_is_lost_and_still_scored() -> None:
    trainer, scored = Generates(), Scored(Truth())
    third_language.prompt_lost(trainer, scored)
    trainer._generate_and_score_completions([{"prompt": "a>", "more": 1}, {"prompt": "b>", "more": 1}])
    assert trainer.asked == [[">>", ">>"]]
    assert scored([">>", ">>"], ["b", "b"]) == [1 / 8, 0.0]


def test_the_same_batch_is_handed_out_again() -> None:
    trainer = Generates()
    third_language.batch_again(trainer, Scored(Truth()))
    batches = [trainer._generate_and_score_completions([{"prompt": letter}]) for letter in "abc"]
    assert batches == [{"batch": 1}] * 3
    assert len(trainer.asked) == 3, "new completions are made all the same"


@pytest.mark.full  # TRL
def test_the_planted_method_is_trls() -> None:
    from trl import GRPOTrainer

    assert callable(GRPOTrainer._generate_and_score_completions)
