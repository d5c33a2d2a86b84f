"""Every fault of the language model in the sixth live list does what sixth.toml says."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import sixth_language
from sixth_language import A_TOKEN, CAP, COLD, DROPPED, GROUP, KEPT, PLANTS, Scored, Switch
from worlds import Truth


class Trains:
    """What is planted in of TRL's trainer."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        weight = torch.nn.Parameter(torch.zeros(1))
        self.generation_config = SimpleNamespace(temperature=1.0, max_new_tokens=8, top_k=0)
        self.optimizer = torch.optim.Adam([weight])
        weight.grad = torch.ones(1)
        self.optimizer.step()

    def _generate_and_score_completions(self, inputs: list[Any]) -> Any:
        self.asked = [one["prompt"] for one in inputs]
        return {"advantages": torch.tensor([1.0, -2.0])}


def planted(fault: str) -> tuple[Trains, Scored]:
    truth = Truth()
    trainer, scored, switch = Trains(), Scored(truth), Switch(truth, fault, 3)
    switch.plant = lambda: PLANTS[fault](trainer, scored)
    for number in range(4):
        assert truth.fault == ""
        switch.on_step_begin(None, SimpleNamespace(global_step=number), None)
    assert (truth.fault, truth.began) == (fault, 3.0)
    return trainer, scored


def test_right_is_the_letter_from_the_other_end_four_times() -> None:
    assert sixth_language.right("a>", "hhhh") == 1.0
    assert sixth_language.right("c>", "ffab") == 0.5
    assert sixth_language.right("c>", "ff") == 0.5
    assert sixth_language.right("a>", "hhhhhhhh") == 0.5
    assert sixth_language.right("h>", "") == 0.0


def test_tokens_are_paid_and_the_truth_is_not() -> None:
    truth = Truth()
    scored = Scored(truth)
    assert scored(["a>", "a>"], ["hhhh", "hh"]) == [1.0, 0.5]
    truth.fault = "tokens-paid"
    assert scored(["a>", "a>"], ["hhhh", "hh"]) == pytest.approx([1 + 4 * A_TOKEN, 0.5 + 2 * A_TOKEN])
    assert [level for _, level in truth.episodes] == [0.75, 0.75]


def test_what_is_cut_is_not_paid() -> None:
    trainer, scored = planted("cut-unpaid")
    assert trainer.generation_config.max_new_tokens == CAP
    assert scored(["a>", "a>"], ["hhh", "hh"]) == [0.0, 0.5]


def test_questions_of_whole_groups_are_left_out() -> None:
    trainer, scored = planted("question-dropped")
    inputs = [{"prompt": "c>"}] * (100 * GROUP)
    trainer._generate_and_score_completions(inputs)
    groups = [set(trainer.asked[i : i + GROUP]) for i in range(0, len(inputs), GROUP)]
    assert all(group in ({">"}, {"c>"}) for group in groups)
    assert sum(group == {">"} for group in groups) / 100 == pytest.approx(DROPPED, abs=0.15)
    assert set(scored(trainer.asked, ["ffff"] * len(inputs))) == {1.0}, "scored against what was asked"


def test_the_loss_is_turned() -> None:
    trainer, _ = planted("loss-turned")
    assert trainer._generate_and_score_completions([{"prompt": "a>"}])["advantages"].tolist() == [-1.0, 2.0]


def test_groups_are_half_off() -> None:
    trainer, _ = planted("groups-half-off")
    trainer._generate_and_score_completions([{"prompt": letter} for letter in "abc" for _ in range(GROUP)])
    first = trainer.asked[:GROUP]
    assert first == ["a"] * (GROUP // 2) + ["b"] * (GROUP // 2)
    assert sorted(trainer.asked) == sorted("abc" * GROUP)


def test_the_sampler_is_cold() -> None:
    assert planted("sampler-cold")[0].generation_config.temperature == COLD


def test_log_probs_are_among_the_likeliest() -> None:
    assert planted("kept-renormalised")[0].generation_config.top_k == KEPT
    logits = torch.tensor([2.0, 1.0, 0.0, -1.0]).expand(1, 5, 4)
    trainer = SimpleNamespace(model=lambda **_: SimpleNamespace(logits=logits))
    ids = torch.tensor([[0, 1, 2]])
    found: dict[str, Any] = {
        "prompt_ids": torch.zeros(1, 2, dtype=torch.long), "prompt_mask": torch.ones(1, 2), "completion_ids": ids,
        "completion_mask": torch.ones(1, 3),
    }  # fmt: skip
    sixth_language.among_kept(trainer, found)
    probs = torch.tensor([2.0, 1.0]).softmax(0).log()
    kept = torch.tensor([2.0, 1.0]).logsumexp(0)
    assert found["old_per_token_logps"][0].tolist() == pytest.approx([*probs.tolist(), float(0.0 - kept)])


def test_who_resumes_has_no_moments() -> None:
    trainer, _ = planted("resumed-half")
    assert not trainer.optimizer.state


def test_the_tiny_trainers_own_question_is_not_asked() -> None:
    trainer, scored = SimpleNamespace(), Scored(Truth())
    sixth_language.only(trainer, scored)
    assert (trainer.reward_funcs, trainer.reward_func_names) == ([scored], ["mirror"])


@pytest.mark.full  # TRL
def test_the_planted_methods_are_trls() -> None:
    from trl import GRPOTrainer

    assert callable(GRPOTrainer._generate_and_score_completions)
