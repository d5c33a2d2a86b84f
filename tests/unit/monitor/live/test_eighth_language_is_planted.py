"""Every fault of the language model in the eighth list does what eighth.toml says."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

from eighth_language import ANSWER, PLANTS, Scored, Switch, right, wanted
from worlds import Truth


class Model(torch.nn.Module):
    """Generates what its weights say, and keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.lm_head = torch.nn.Linear(1, 2), torch.nn.Linear(2, 3)
        self.asked: list[Any] = []

    def generate(self, input_ids: Any, attention_mask: Any) -> Any:
        self.asked.append((input_ids, attention_mask, {k: v.clone() for k, v in self.state_dict().items()}))
        return torch.cat([input_ids, torch.full((len(input_ids), 2), 7)], 1)


def trainer() -> Any:
    """Return what is planted in of TRL's trainer, half-way, its weights having changed since it began."""
    model = Model()
    first = {name: weight.clone() for name, weight in model.state_dict().items()}
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(1)
    optimiser = torch.optim.Adam(model.parameters())
    return SimpleNamespace(
        model=model, first_weights=first, eos_token_ids=[2], generation_kwargs={}, state=SimpleNamespace(global_step=0),
        generation_config=SimpleNamespace(pad_token_id=0), optimizer=SimpleNamespace(optimizer=optimiser),
        lr_scheduler=SimpleNamespace(scheduler=torch.optim.lr_scheduler.LambdaLR(optimiser, lambda _: 1.0)),
    )  # fmt: skip


def test_right_is_the_third_letter_after_three_times() -> None:
    assert [wanted(letter) for letter in "abgh"] == list("debc")
    assert right("a>", "ddd") == 1.0
    assert right("a>", "ddc") == pytest.approx(2 / 3)
    assert right("a>", "dddddd") == 0.5
    assert right("a>", "") == 0.0


def test_a_fault_begins_at_its_update() -> None:
    truth, begun = Truth(), list[int]()
    switch = Switch(truth, "end-not-known", 3)
    switch.plant = lambda: begun.append(1)
    for number in range(5):
        assert bool(begun) == (number > 3)
        switch.on_step_begin(None, SimpleNamespace(global_step=number), None)
    assert (truth.fault, truth.began, begun) == ("end-not-known", 3.0, [1])


def test_what_is_paid_is_not_the_truth() -> None:
    truth = Truth()
    scored = Scored(truth)
    assert scored(["a>", "a>"], ["ddd", "aaa"]) == [1.0, 0.0]
    truth.fault = "scores-of-last-batch"
    assert scored(["a>", "a>"], ["aaa", "aaa"]) == [1.0, 0.0]
    assert scored(["a>", "a>"], ["ddd", "ddd"]) == [0.0, 0.0]
    truth.fault = "rest-is-read"
    assert scored(["a>", "a>"], ["ddd", "aaaddd"]) == [0.0, 1.0]
    truth.fault = "scores-as-they-come"
    texts = ["ddd"] * 30 + ["aaa"] * 30
    found = scored(["a>"] * 60, texts)
    assert sorted(found) == [0.0] * 30 + [1.0] * 30
    assert found != [1.0] * 30 + [0.0] * 30
    assert [level for _, level in truth.episodes] == [0.5, 0.0, 1.0, 0.5, 0.5]


def test_settings_of_generation_are_others() -> None:
    one = trainer()
    PLANTS["repetition-penalised"](one, 4)
    PLANTS["end-not-known"](one, 1)
    assert one.generation_config.repetition_penalty == one.generation_kwargs["repetition_penalty"] == 4
    assert one.generation_config.suppress_tokens == one.generation_kwargs["suppress_tokens"] == [2]


def test_padding_stands_between_question_and_answer() -> None:
    one = trainer()
    PLANTS["padded-on-the-right"](one, 3)
    ids = torch.tensor([[5, 6], [8, 9]])
    found = one.model.generate(input_ids=ids, attention_mask=torch.ones_like(ids))
    asked, mask, _ = one.model.asked[0]
    assert asked.tolist() == [[5, 6, 0, 0, 0], [8, 9, 0, 0, 0]]
    assert mask.all()
    assert found.tolist() == [[5, 6, 7, 7], [8, 9, 7, 7]]


@pytest.mark.parametrize("fault", ["base-plays", "head-left-out"])
def test_who_generates_has_first_weights_and_who_learns_has_not(fault: str) -> None:
    one = trainer()
    learned = {name: weight.clone() for name, weight in one.model.state_dict().items()}
    PLANTS[fault](one, 1)
    ids = torch.zeros(1, 1, dtype=torch.long)
    one.model.generate(ids, attention_mask=ids)
    for name, weight in one.model.asked[0][2].items():
        left_out = fault == "base-plays" or name.startswith("lm_head")
        assert torch.equal(weight, (one.first_weights if left_out else learned)[name])
        assert torch.equal(one.model.state_dict()[name], learned[name])


def test_the_rate_falls_below_nothing_by_the_end() -> None:
    from eighth_language import UPDATES

    one = trainer()
    one.state.global_step = UPDATES // 2
    PLANTS["rate-below-nothing"](one, 3)
    (at,) = one.lr_scheduler.scheduler.lr_lambdas
    assert [at(UPDATES // 2), at(UPDATES)] == pytest.approx([1.0, -3.0])


def test_faults_of_optimisers_reach_the_trainer() -> None:
    one = trainer()
    PLANTS["moments-swapped"](one, 1)
    assert one.optimizer.optimizer.param_groups[0]["betas"] == (0.999, 0.9)


@pytest.mark.full  # TRL
@pytest.mark.filterwarnings("ignore")  # of libraries
def test_the_trainer_learns_and_generates_with_each_fault(tmp_path: Path) -> None:
    import eighth_language

    for fault in ("end-not-known", "padded-on-the-right", "repetition-penalised", "head-left-out"):
        truth = Truth()
        scored = Scored(truth)
        one = eighth_language.built(str(tmp_path), 0, scored, Switch(truth, "", 10**9))
        PLANTS[fault](one, 3)
        one.args.max_steps = 2
        one.train()
        assert truth.steps == 2
        if fault == "end-not-known":
            assert set(one._metrics["train"]["completions/clipped_ratio"]) <= {1.0}
    assert ANSWER == 3
