"""The faults of TorchRL's, TRL's and the reference trainers in the ninth list do what ninth.toml says."""

from __future__ import annotations

import math
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from tensordict import TensorDict

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import ninth_doses
import ninth_language
import ninth_reference

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # TorchRL's collectors inherit from what it calls deprecated
    import ninth_torchrl
from ninth_language import Scored, of_prompts, ranks, right, wanted
from ninth_rollouts import OF_ADVANTAGES, half_written, log_probs_lost
from tiny_language_model import LETTERS
from worlds import Truth

pytestmark = pytest.mark.filterwarnings("ignore")  # of libraries


def rows(number: int = 0) -> Any:
    """Return a rollout of two copies and six steps."""
    torch.manual_seed(number)
    names = ("obs", "action", "advantage", "value_target", "log_prob")
    return TensorDict({name: torch.randn(2, 6, 3) for name in names}, [2, 6])


def test_rollouts_are_changed() -> None:
    whole = rows()
    assert torch.equal(OF_ADVANTAGES["advantages-unsigned"](rows())["advantage"], whole["advantage"].abs())
    assert torch.equal(OF_ADVANTAGES["baseline-dropped"](rows())["advantage"], whole["value_target"])
    assert torch.equal(OF_ADVANTAGES["critic-learns-advantages"](rows())["value_target"], whole["advantage"])
    assert not log_probs_lost("log_prob")(rows())["log_prob"].any()
    change = half_written("obs", "action")
    first, second = change(rows(1)), change(rows(2))
    assert torch.equal(first["obs"], rows(1)["obs"])
    for name in ("obs", "action"):
        assert torch.equal(second[name][:, 3:], rows(1)[name][:, 3:])
        assert torch.equal(second[name][:, :3], rows(2)[name][:, :3])
    assert torch.equal(second["advantage"], rows(2)["advantage"])
    assert torch.equal(change(rows(3))["obs"][:, 3:], rows(2)["obs"][:, 3:])


def planted(fault: str, dose: float, monkeypatch: pytest.MonkeyPatch, subject: str = "torchrl_sac_reactor") -> Any:
    """Return the switch of a TorchRL trainer in which `fault` is on."""
    torch.set_num_threads(1)
    monkeypatch.setitem(ninth_doses.CHOSEN, (fault, subject), dose)
    switch = ninth_torchrl.Switch(subject, Truth(), fault, 0.55)
    ninth_torchrl.built(subject, 0, None, switch.truth, switch)
    switch.trainer.collected_frames = math.ceil(switch.at) - 1
    switch.look()
    assert switch.truth.began != switch.truth.began
    switch.trainer.collected_frames += 1
    switch.look()
    assert switch.truth.began == switch.trainer.collected_frames
    return switch


def test_torchrl_has_each_kind_of_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = "torchrl_ppo_plates"
    assert planted("drive-jammed", 1, monkeypatch, subject).truth.fault == "drive-jammed"
    batch = TensorDict({"action_log_prob": torch.ones(2, 4), "advantage": -torch.ones(2, 4)}, [2, 4])
    assert not planted("log-probs-lost", 1, monkeypatch, subject).of_batch(batch.clone())["action_log_prob"].any()
    found = planted("advantages-unsigned", 1, monkeypatch, subject).of_advantages(batch.clone())
    assert torch.equal(found["advantage"], -batch["advantage"])
    pieces = planted("weights-clamped", 0.01, monkeypatch, subject).pieces
    pieces.optimisers[0].step()
    assert len(pieces.critics) == 6
    assert max(float(weight.detach().abs().max()) for weight in pieces.weights) <= 0.0101


def test_torchrl_actor_has_a_floor_and_wanders(monkeypatch: pytest.MonkeyPatch) -> None:
    switch = planted("spread-floor", 0.5, monkeypatch)
    assert float(switch.pieces.actor(torch.randn(5, 4))[1].detach().min()) == pytest.approx(2.718281**0.5, rel=1e-4)
    assert len(switch.pieces.critics) == 6
    switch = planted("noise-never-reset", 0.5, monkeypatch)
    policy, obs = switch.trainer.collector.policy, TensorDict({"observation": torch.zeros(1, 4)}, [1])
    for playing in (False, True):
        switch.pieces.playing = playing
        actions = []
        for _ in range(30):
            torch.manual_seed(0)
            actions.append(policy(obs.clone())["action"].detach())
        assert all(torch.equal(action, actions[0]) for action in actions) != playing
    assert max(float(action.abs().max()) for action in actions) <= 1


def test_torchrl_sample_and_targets_are_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = TensorDict({"observation": torch.ones(3, 4), ("next", "observation"): torch.zeros(3, 4)}, [3])
    assert planted("next-is-now", 1, monkeypatch).of_sample(sample)["next", "observation"].all()
    sample[("next", "reward")] = torch.ones(3, 1)
    assert not planted("reward-left-out", 1, monkeypatch).of_sample(sample)["next", "reward"].any()
    switch = planted("targets-cut", 0.3, monkeypatch)
    over = torch.ones(3, 1, dtype=torch.bool)
    columns = {
        ("next", "reward"): torch.tensor([[5.0], [-5.0], [0.1]]), ("next", "state_value"): torch.zeros(3, 1),
        ("next", "done"): over, ("next", "terminated"): over,
    }  # fmt: skip
    estimator = switch.trainer.loss_module.value_estimator
    found = estimator.value_estimate(TensorDict(columns, [3]))
    assert found.flatten().tolist() == pytest.approx([0.3, -0.3, 0.1])


@pytest.mark.parametrize("fault", ["log-probs-lost", "advantages-unsigned", "logits-clamped", "drive-jammed"])
def test_the_reference_trainer_has_the_fault(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    subject, truth = "mmrkhs_plates", Truth()
    monkeypatch.setitem(ninth_doses.CHOSEN, (fault, subject), 0.001)
    trainer = ninth_reference.built(subject, 0, None, truth)
    ninth_reference.begin(trainer, subject, fault, truth)
    rollout = trainer.advantages(trainer.collect())
    assert truth.fault == ("drive-jammed" if fault == "drive-jammed" else "")
    assert bool(rollout["log_prob"].any()) == (fault != "log-probs-lost")
    assert bool((rollout["advantage"] >= 0).all()) == (fault == "advantages-unsigned")
    if fault == "logits-clamped":
        for actor in (trainer.actor, trainer.old_actor):
            assert float((actor.distribution(torch.randn(9, 6)).probs - 0.25).detach().abs().max()) < 0.001


def test_right_is_the_letter_across_twice() -> None:
    assert [wanted(letter) for letter in "abgh"] == list("efcd")
    assert right("a>", "ee") == 1.0
    assert right("a>", "eb") == 0.5
    assert right("a>", "eeee") == 0.5
    assert right("a>", "") == 0.0


def test_what_is_paid_is_not_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = Truth()
    scored = Scored(truth)
    prompts, texts = ["a>", "a>", "a>"], ["eeab", "ee", "ab"]
    assert scored(prompts, texts) == [0.5, 1.0, 0.0]
    truth.fault = "read-backwards"
    assert scored(prompts, texts) == [0.0, 1.0, 0.0]
    truth.fault = "rank-for-score"
    assert scored(prompts, texts) == [2.0, 1.0, 3.0]
    truth.fault = "diversity-paid"
    monkeypatch.setitem(ninth_doses.CHOSEN, ("diversity-paid", "grpo_across"), 4)
    assert scored(prompts, texts) == [0.5 + 1.5, 1.0 + 0.5, 1.0]
    assert [level for _, level in truth.episodes] == [0.5] * 4
    assert ranks([1, 1, 3]) == [2, 2, 1]


def tokenizer() -> Any:
    """Return numbers of words as a tokenizer gives them."""
    known = {word: 5 + number for number, word in enumerate([*LETTERS, "0"])}
    return SimpleNamespace(
        convert_tokens_to_ids=lambda words: known[words] if isinstance(words, str) else [known[word] for word in words]
    )


def test_questions_are_others() -> None:
    for change, dose, expected in (
        (ninth_language.ids_shifted, 3, [[8, 99], [7, 99]]),
        (ninth_language.template_longer, 2, [[13, 13, 5, 99], [13, 13, 12, 99]]),
    ):
        trainer = SimpleNamespace(
            processing_class=tokenizer(), _tokenize_prompts=lambda prompts: ([[5, 99], [12, 99]], None, {})
        )
        of_prompts(change)(trainer, dose)
        assert trainer._tokenize_prompts(["a>", "h>"]) == (expected, None, {})


def test_letters_are_banned_and_advantages_unsigned() -> None:
    trainer = SimpleNamespace(
        processing_class=tokenizer(), generation_config=SimpleNamespace(), generation_kwargs={},
        _generate_and_score_completions=lambda inputs: {"advantages": torch.tensor([-1.0, 2.0]), "other": 1},
    )  # fmt: skip
    ninth_language.words_banned(trainer, 3)
    assert trainer.generation_config.suppress_tokens == trainer.generation_kwargs["suppress_tokens"] == [5, 6, 7]
    ninth_language.advantages_unsigned(trainer, 1)
    found = trainer._generate_and_score_completions([])
    assert (found["advantages"].tolist(), found["other"]) == ([1.0, 2.0], 1)


@pytest.mark.full  # TRL
def test_grpo_learns_and_generates_with_each_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for fault in ("words-banned", "ids-shifted", "template-longer", "restarts-from-first", "torn-weights"):
        monkeypatch.setitem(ninth_doses.CHOSEN, (fault, "grpo_across"), 2)
        truth = Truth()
        switch = ninth_language.Switch(truth, fault, 1)
        one = ninth_language.built(str(tmp_path), 0, Scored(truth), switch)
        planted: list[str] = []

        def plant(one: Any = one, fault: str = fault, planted: list[str] = planted) -> None:
            ninth_language.plant(one, fault)
            planted.append(fault)

        switch.plant = plant  # as a run does, once there is an optimiser
        one.args.max_steps = 3
        one.train()
        assert (truth.steps, planted) == (3, [fault])
