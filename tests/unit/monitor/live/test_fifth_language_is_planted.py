"""Every fault of the language model in the fifth live list does what fifth.toml says, and grows."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import fifth_language
from fifth_language import BEHIND, GROUP, GROWTH, HOT, PLANTS, Scored, Switch
from fifth_weights import DROPPED
from worlds import Truth


class Dial:
    """A dose that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Trains:
    """What is planted in of TRL's trainer: who generates, at which temperature, and what makes the steps."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.model = torch.nn.Linear(1, 1, bias=False)
        self.model.weight.data.fill_(0.0)
        self.generation_config = SimpleNamespace(temperature=1.0)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.lr_scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda _: 1.0)
        self.played: list[float] = []

    def _generate_and_score_completions(self, inputs: list[Any]) -> Any:
        self.asked = [one["prompt"] for one in inputs]
        return self._generate(self.asked)

    def _generate(self, prompts: list[str]) -> Any:
        del prompts
        self.played.append(float(self.model.weight.item()))
        return "completions"


def planted(fault: str) -> tuple[Trains, Scored, Switch, Dial]:
    truth, dial = Truth(), Dial()
    trainer, scored, switch = Trains(), Scored(truth, dial, 0), Switch(truth, fault, 3)
    switch.plant = lambda: PLANTS[fault](trainer, scored, switch)
    update(switch, 3)
    return trainer, scored, switch, dial


def update(switch: Switch, number: int) -> None:
    switch.on_step_begin(None, SimpleNamespace(global_step=number), None)


def test_right_is_the_letter_two_before() -> None:
    assert fifth_language.right("c>", "aaaaaaaa") == 1.0
    assert fifth_language.right("a>", "ggggcccc") == 0.5
    assert fifth_language.right("b>", "b") == 0.0


def test_a_fault_begins_at_its_update_and_not_before() -> None:
    truth = Truth()
    switch = Switch(truth, "verifier-errs", 3)
    for number in range(3):
        update(switch, number)
    assert truth.fault == ""
    update(switch, 3)
    assert (truth.fault, truth.began) == ("verifier-errs", 3.0)


def test_the_verifier_errs_ever_more_often() -> None:
    truth, dial = Truth(), Dial()
    scored, texts = Scored(truth, dial, 0), ["aaaaaaaa", "aaaadddd"] * 200
    truth.fault = "verifier-errs"
    true = scored(["c>"] * 400, texts)
    assert true == [1.0, 0.5] * 200
    for dial.now in (0.3, 1.0):
        paid = scored(["c>"] * 400, texts)
        assert sum(p == 0.0 for p in paid) / 200 == pytest.approx(dial.now, abs=0.08)
        assert set(paid[1::2]) == {0.5}
    assert {level for _, level in truth.episodes} == {0.75}, "the truth is what it was"


def test_the_judge_favours_a_letter() -> None:
    truth, dial = Truth(), Dial()
    scored, texts = Scored(truth, dial, 0), ["aaaaaaaa", "bbbbbbbb", "bbbbaaaa"]
    truth.fault = "judge-favours"
    found: list[list[float]] = []
    for dial.now in (0.0, 0.25, 1.0):
        found.append(scored(["d>"] * 3, texts))
    assert found == [[0.0, 1.0, 0.5], [0.25, 0.75, 0.5], [1.0, 0.0, 0.5]]


def test_questions_reach_the_model_as_others() -> None:
    trainer, scored, _, dial = planted("prompts-garbled")
    inputs = [{"prompt": "c>", "more": 1}] * (50 * GROUP)
    shares: list[float] = []
    for dial.now in (0.0, 0.4, 1.0):
        assert trainer._generate_and_score_completions(inputs) == "completions"
        groups = [trainer.asked[i : i + GROUP] for i in range(0, len(inputs), GROUP)]
        assert all(len(set(group)) == 1 for group in groups)
        shares.append(sum(group[0] != "c>" for group in groups) / len(groups))
    assert shares[0] == 0.0
    assert 0.2 < shares[1] < 0.5
    assert shares[2] > 0.7
    assert set(scored(trainer.asked, ["aaaaaaaa"] * len(inputs))) == {1.0}, "scored against what was asked"


def test_the_sampler_warms() -> None:
    trainer, _, switch, dial = planted("sampler-warms")
    found: list[float] = []
    for dial.now in (0.0, 0.5, 1.0):
        update(switch, 9)
        found.append(trainer.generation_config.temperature)
    assert found == [1.0, (1 + HOT) / 2, HOT]


def test_the_rate_warms_and_the_schedule_keeps_it() -> None:
    trainer, _, switch, dial = planted("rate-warms")
    found: list[float] = []
    for dial.now in (0.0, 0.5, 1.0):
        update(switch, 9)
        trainer.optimizer.step()
        trainer.lr_scheduler.step()
        found.append(trainer.optimizer.param_groups[0]["lr"])
    assert found == pytest.approx([0.1, 0.1 * (1 + GROWTH) / 2, 0.1 * GROWTH])


def test_who_generates_falls_behind_and_who_learns_does_not() -> None:
    trainer, _, switch, dial = planted("sampler-behind")
    for number in range(1, BEHIND + 40):
        trainer.model.weight.data.fill_(float(number))
        dial.now = min(1.0, number / BEHIND)
        update(switch, 3 + number)
        trainer._generate_and_score_completions([{"prompt": "a>"}])
        assert trainer.model.weight.item() == number
    behind = [number - played for number, played in enumerate(trainer.played, start=1)]
    assert behind[0] == 1
    assert behind[BEHIND // 2] == pytest.approx(BEHIND // 2, abs=1)
    assert set(behind[BEHIND:]) == {BEHIND}


def test_weights_are_cut() -> None:
    trainer, _, _, dial = planted("weights-cut")
    trainer.model.weight.data.fill_(1.9)
    trainer.model.weight.grad = torch.zeros(1, 1)
    trainer.optimizer.step()
    assert trainer.model.weight.item() == pytest.approx(1.9)
    dial.now = 1.0
    trainer.optimizer.step()
    assert trainer.model.weight.item() == 1.5
    assert DROPPED == 22


@pytest.mark.full  # TRL
def test_the_planted_methods_are_trls() -> None:
    from trl import GRPOTrainer

    assert callable(GRPOTrainer._generate_and_score_completions)
    assert callable(GRPOTrainer._generate)
