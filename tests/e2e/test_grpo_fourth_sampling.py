"""Each fault of the fourth list in sampler, queue, forward pass, evaluation and machine does what it says, in TRL."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import torch

from benchmarks.grpo.campaign import FOURTH
from benchmarks.grpo.fourth_planting import FourthPlanted
from benchmarks.grpo.recording import Plan, record
from benchmarks.grpo.tasks import CODE
from tests.e2e.planted_trainers import batch, begun_models, gap, nudge, planted_trainer, rows_of

pytestmark = [
    pytest.mark.full,
    pytest.mark.filterwarnings(
        "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning", "ignore::ResourceWarning"
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return begun_models(FOURTH, "swap", tmp_path_factory.mktemp("models"))


@pytest.fixture
def trainer(folder: Path, tmp_path: Path) -> FourthPlanted:
    return planted_trainer(FOURTH, "swap", folder, tmp_path)


@pytest.fixture
def sampling(folder: Path, tmp_path: Path) -> FourthPlanted:
    return planted_trainer(FOURTH, "swap", folder, tmp_path, "sampler")


@pytest.fixture
def evaluating(folder: Path, tmp_path: Path) -> FourthPlanted:
    return planted_trainer(FOURTH, "swap", folder, tmp_path, "evaluated")


def test_the_sampler_sees_the_end_of_a_prompt_only(sampling: FourthPlanted):
    prompts = [[CODE[c] for c in "abcd>"], [CODE[c] for c in "a>"]]
    torch.manual_seed(0)
    wanted = sampling.sampler.generate([ids[-3:] for ids in prompts] * 8)[1]
    sampling.switch_on("sampler-truncates-prompt")
    torch.manual_seed(0)
    assert sampling.sampler.generate(prompts * 8)[1] == wanted
    found = batch(sampling)
    longest = max(len(row["prompt"]) for row in rows_of(sampling))
    assert longest > 3
    assert int(found["prompt_mask"].sum(1).max()) == longest


def test_every_fourth_hand_over_is_undone(sampling: FourthPlanted):
    first = [weight.clone() for weight in sampling.sampler.first]
    nudge(sampling.model)
    sampling.switch_on("sampler-reloads-base")
    base = []
    for _ in range(8):
        sampling.sampler.sync_weights()
        mine = list(sampling.sampler.model.parameters())
        base.append(all(a.equal(b) for a, b in zip(mine, first, strict=True)))
    assert base == [False, False, False, True] * 2


def test_a_coarse_head_sets_sampler_and_trainer_apart(sampling: FourthPlanted):
    sound = gap(sampling)
    sampling.switch_on("head-in-low-precision")
    assert gap(sampling) > 5 * sound  # of a model that knows little; 0.0007 and 0.009 nats
    inputs = batch(sampling)
    sampling.scores(inputs)[0].sum().backward()  # gradients go on
    assert all(weight.grad is not None for weight in sampling.model.parameters())


def test_positions_of_responses_restart_in_the_loss_alone(trainer: FourthPlanted):
    nudge(trainer.model)
    sound = batch(trainer)
    logps = trainer.scores(sound)[0]
    trainer.switch_on("positions-restart")
    found = batch(trainer)
    assert found["completion_ids"].equal(sound["completion_ids"])
    changed = (trainer.scores(found)[0] - logps).abs()
    assert changed.mean() > 0.01
    ids = torch.cat([found["prompt_ids"], found["completion_ids"]], 1)
    width = found["prompt_ids"].size(1)
    places = torch.cat([torch.arange(width), torch.arange(ids.size(1) - width)]).expand(ids.size(0), -1)
    seen = torch.cat([found["prompt_mask"], found["completion_mask"]], 1)
    logits = trainer.model(input_ids=ids, attention_mask=seen, position_ids=places).logits[:, width - 1 : -1]
    wanted = torch.log_softmax(logits.float(), -1).gather(-1, found["completion_ids"][..., None])[..., 0]
    mask = found["completion_mask"]
    assert torch.allclose(trainer.scores(found)[0] * mask, wanted * mask, atol=1e-4)


def test_a_queue_hands_out_ever_older_batches(trainer: FourthPlanted):
    trainer.switch_on("queue-falls-behind")
    asked = [rows_of(trainer, first) for first in (0, 8, 16)]
    found = [batch(trainer, seed, 8 * seed) for seed in range(3)]
    assert len(trainer.queue) == 3  # two in, one out, three times
    prompts = [
        trainer.processing_class.batch_decode(one["prompt_ids"], skip_special_tokens=True) for one in found
    ]  # fmt: skip
    assert prompts[0] == [row["prompt"] for row in asked[0]]
    assert prompts[1] != [row["prompt"] for row in asked[1]]  # the second of the first two
    assert prompts[2] == [row["prompt"] for row in asked[1]]  # one update late
    torch.manual_seed(1)  # as when it was drawn
    trainer.switch_on("")
    trainer.queue.clear()
    assert batch(trainer, 1, 8)["completion_ids"].equal(found[2]["completion_ids"])


def test_a_prompt_asked_again_gets_its_first_responses(trainer: FourthPlanted):
    trainer.switch_on("responses-cached")
    first = batch(trainer, 0)["completion_ids"]
    nudge(trainer.model)
    assert batch(trainer, 1)["completion_ids"].equal(first)
    trainer.switch_on("")
    assert not batch(trainer, 1)["completion_ids"].equal(first)


def test_evaluation_alone_is_hot(evaluating: FourthPlanted):
    heard: list[tuple[bool, float]] = []
    usual = evaluating.model.generate
    evaluating.model.generate = lambda **kept: (
        heard.append((evaluating.model.training, kept["generation_config"].temperature)) or usual(**kept)
    )
    evaluating.switch_on("eval-tempered")
    batch(evaluating)
    evaluating.evaluate()
    assert {heat for _, heat in heard} == {1.0, 3.0}
    assert heard[0][1] == 1.0
    assert heard[-1][1] == 3.0
    assert evaluating.generation_config.temperature == 1.0


def test_evaluation_alone_counts_the_best(evaluating: FourthPlanted):
    evaluating.verifier.score = lambda prompt, text, *given: float(len(text) > 2)
    evaluating.switch_on("eval-best-counted")
    for training in (True, False):
        torch.manual_seed(0)
        evaluating.model.train(training)
        evaluating._generate_and_score_completions(rows_of(evaluating))
        alike = evaluating._metrics["train" if training else "eval"]["frac_reward_zero_std"][-1]
        assert (alike == 1) == (not training)


def test_the_machine_stalls_or_leaks(trainer: FourthPlanted, monkeypatch: pytest.MonkeyPatch):
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    trainer.switch_on("stalls")
    for update in range(21):
        trainer.state.global_step = update
        trainer._burden()
    assert slept == [0.6] * 3
    trainer.switch_on("memory-leaks")
    batch(trainer)
    batch(trainer)
    assert sum(kept.nbytes for kept in trainer.leaked) == 8_000_000


@pytest.mark.parametrize("needs", ["", "sampler", "evaluated"])
def test_a_run_is_recorded_to_its_end(folder: Path, needs: str):
    plan = Plan("x", "swap", "healthy", 0, needs=needs, updates=8, weights=(0.0, 0.1, 0.0, 1.0), few=16)
    found = record(plan, folder, FOURTH)
    assert (found["died"], found["end_step"]) == ("", 8)
    assert "rewards/judge/mean" in found["keys"]
    assert ("eval_reward" in found["keys"]) == (needs == "evaluated")


@pytest.mark.parametrize("fault", ["gradients-not-zeroed", "queue-falls-behind", "positions-restart"])
def test_a_broken_run_is_recorded_to_its_end(folder: Path, fault: str):
    found = record(Plan("x", "swap", "fault", 0, fault=fault, start=2, updates=6), folder, FOURTH)
    assert (found["died"], found["end_step"]) == ("", 6)
