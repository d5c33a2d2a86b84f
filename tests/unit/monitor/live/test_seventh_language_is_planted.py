"""Every fault of the language model in the seventh live list does what seventh.toml says."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import seventh_doses
from seventh_language import GROUP, PADDING, PLANTS, UNCLIPPED, Scored, Switch, paid, right, wanted
from tiny_language_model import LENGTH
from worlds import Truth


class Model(torch.nn.Module):
    """Says the same of every next token."""

    def __init__(self, words: int = 22) -> None:
        super().__init__()
        self.lm_head = torch.nn.Linear(1, words)

    def forward(self, input_ids: Any, attention_mask: Any = None) -> Any:
        del attention_mask
        return SimpleNamespace(logits=self.lm_head(torch.ones(*input_ids.shape, 1)))

    def generate(self, input_ids: Any) -> Any:
        return self(input_ids).logits.softmax(-1)


class Trains:
    """What is planted in of TRL's trainer."""

    def __init__(self) -> None:
        self.model = Model()
        self.epsilon_low = self.epsilon_high = 0.2
        self.count = 0

    def _generate_and_score_completions(self, inputs: Any) -> dict[str, Any]:
        del inputs
        self.count += 1
        return {
            "prompt_ids": torch.zeros(2, 2, dtype=torch.long), "prompt_mask": torch.ones(2, 2),
            "completion_ids": torch.full((2, 3), self.count % 20),
            "completion_mask": torch.tensor([[1, 1, 1], [1, 1, 0]]),
            "advantages": torch.tensor([1.0, -1.0]),
        }  # fmt: skip


def planted(fault: str, dose: float) -> Trains:
    trainer, truth = Trains(), Truth()
    switch = Switch(truth, fault, 3)
    switch.plant = lambda: PLANTS[fault](trainer, dose)
    for number in range(4):
        assert truth.fault == ""
        switch.on_step_begin(None, SimpleNamespace(global_step=number), None)
    assert (truth.fault, truth.began) == (fault, 3.0)
    return trainer


def test_right_is_the_neighbour_four_times() -> None:
    assert [wanted(letter) for letter in "abgh"] == list("bahg")
    assert right("a>", "bbbb") == 1.0
    assert right("d>", "ccab") == 0.5
    assert right("h>", "gggggggg") == 0.5
    assert right("h>", "") == 0.0


def test_what_is_paid_is_not_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = Truth()
    scored = Scored(truth)
    assert scored(["a>", "a>"], ["bbbb", "bb"]) == [1.0, 0.5]
    truth.fault = "form-outweighs"
    monkeypatch.setitem(seventh_doses.CHOSEN, ("form-outweighs", "grpo_swap"), 10)
    assert scored(["a>"], ["b" * LENGTH]) == [pytest.approx(10.5)]
    assert [level for _, level in truth.episodes] == pytest.approx([0.75, 0.5])


def test_answers_are_marked_against_another_question() -> None:
    prompts = ["a>"] * GROUP + ["d>"] * GROUP
    found = paid("labels-off", 1, prompts, ["cccc"] * 2 * GROUP, [0.0] * 2 * GROUP)
    assert found == [1.0] * GROUP + [0.0] * GROUP


def test_a_pattern_does_not_know_all_letters() -> None:
    assert paid("pattern-narrow", 2, ["a>"] * 3, ["bbb", "bbg", "bbf"], [1.0, 0.7, 0.7]) == [1.0, 0.0, 0.7]


def test_an_answer_anywhere_is_enough() -> None:
    assert paid("substring-enough", 1, ["a>"] * 2, ["cdefgb", "cd"], [0.0, 0.0]) == [1.0, 0.0]


def test_padding_is_sampled_and_only_then() -> None:
    trainer = planted("padding-sampled", 0.4)
    ids = torch.zeros(1, 2, dtype=torch.long)
    usual = trainer.model(ids).logits.softmax(-1)
    probs = trainer.model.generate(ids)
    assert torch.allclose(probs.sum(-1), torch.ones(1, 2))
    assert torch.allclose(probs[..., PADDING].sum(-1), 0.4 + 0.6 * usual[..., PADDING].sum(-1), atol=1e-5)
    assert torch.allclose(trainer.model(ids).logits.softmax(-1), usual)


def old(trainer: Trains) -> torch.Tensor:
    """Return what the model says of what is generated first."""
    return trainer.model(torch.zeros(1, 1, dtype=torch.long)).logits[0, 0].log_softmax(-1)[1].detach()


def test_what_comes_after_the_end_is_infinitely_unlikely() -> None:
    trainer = planted("infinity-masked", 1)
    found = trainer._generate_and_score_completions([])["old_per_token_logps"]
    assert torch.allclose(found[0], old(trainer).expand(3))
    assert found[1].isinf().tolist() == [False, False, True]


def test_two_paths_do_not_agree() -> None:
    trainer = planted("paths-apart", 3.0)
    off = torch.stack([trainer._generate_and_score_completions([])["old_per_token_logps"] for _ in range(300)])
    trainer.count = 0
    assert float(off[0].sub(old(trainer)).abs().max()) > 0
    assert float(off.std(0).mean()) == pytest.approx(3.0, rel=0.1)


def test_rollouts_are_behind_and_nothing_bounds_the_ratio() -> None:
    trainer = planted("rollouts-behind", 8)
    found = [int(trainer._generate_and_score_completions([])["completion_ids"][0, 0]) for _ in range(12)]
    assert found == [1] * 9 + [2, 3, 4]
    assert trainer.epsilon_high == trainer.epsilon_low == UNCLIPPED


@pytest.mark.full  # TRL
def test_the_padding_is_no_letter_and_the_planted_methods_are_trls(tmp_path: Path) -> None:
    import inspect

    from tiny_language_model import LETTERS, tiny_model
    from transformers import AutoTokenizer
    from trl import GRPOTrainer

    assert callable(GRPOTrainer._generate_and_score_completions)
    assert "old_per_token_logps" in inspect.getsource(GRPOTrainer._compute_loss)
    tokenizer: Any = AutoTokenizer.from_pretrained(tiny_model(tmp_path))
    assert tokenizer.convert_ids_to_tokens(range(PADDING.start, PADDING.stop)) == list("0123456789")
    assert all(tokenizer.convert_tokens_to_ids(letter) < PADDING.start for letter in LETTERS)


def test_the_verifier_falls_over() -> None:
    found = paid("verifier-falls-over", 0.6, ["a>"] * 1000, ["bb"] * 1000, [1.0] * 1000)
    assert set(found) == {0.0, 1.0}
    assert sum(found) / 1000 == pytest.approx(0.4, abs=0.07)


def test_another_judge_pays() -> None:
    assert paid("judge-swapped", 1, ["a>"] * 2, ["bbbb", "aaaa"], [1.0, 0.0]) == [0.0, 1.0]


def test_there_is_no_room() -> None:
    trainer = Trains()
    trainer.generation_config = SimpleNamespace(max_new_tokens=8)
    PLANTS["room-too-short"](trainer, 2)
    assert trainer.generation_config.max_new_tokens == 2


def test_log_probs_are_of_another_temperature() -> None:
    trainer = planted("scored-at-another-heat", 0.5)
    found = trainer._generate_and_score_completions([])["old_per_token_logps"]
    logits = trainer.model(torch.zeros(1, 1, dtype=torch.long)).logits[0, 0]
    assert float(found[0, 0]) == pytest.approx(float((2 * logits).log_softmax(-1)[1].detach()), abs=1e-5)
