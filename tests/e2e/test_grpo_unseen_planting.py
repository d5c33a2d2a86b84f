"""Each fault that nobody had seen does what it says, in TRL's own trainer."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.grpo import recording, unseen_planting
from benchmarks.grpo.campaign import UNSEEN, read, unseen_plans
from benchmarks.grpo.judging import REFERENCE
from benchmarks.grpo.recording import Plan, record
from benchmarks.grpo.tasks import CODE, EOS, TASKS, pretrained, problems
from benchmarks.grpo.unseen_planting import UNSEEN_AT_ONCE, UnseenPlanted, UnseenVerifier, inner
from benchmarks.grpo.unseen_tasks import UNSEEN_TASKS
from tests.e2e.planted_trainers import batch, begun_models, gap, moved, planted_trainer, rows_of

pytestmark = [
    pytest.mark.full,
    pytest.mark.filterwarnings(
        "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning", "ignore::ResourceWarning"
    ),
]

IN_VERIFIER = {"verifier-too-strict", "scores-rolled", "scores-averaged", "first-favoured", "verifier-abstains",
               "shortness-paid", "judge-lenient", "reward-infinite", "scoring-slow"}  # fmt: skip
IN_TRAINER = {"answers-corrupt", "prompts-repeat", "template-changed", "slow-discarded", "batch-stuck",
              "baseline-dropped", "advantages-shuffled", "loss-summed", "ratio-pinned", "reference-refreshed",
              "mask-ignored"}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return begun_models(UNSEEN, "reverse", tmp_path_factory.mktemp("models"))


@pytest.fixture
def trainer(folder: Path, tmp_path: Path, request: pytest.FixtureRequest) -> UnseenPlanted:
    return planted_trainer(UNSEEN, "reverse", folder, tmp_path, getattr(request, "param", ""))


def scores(fault: str, texts: list[str], answers: list[str]) -> list[Any]:
    found = UnseenVerifier(problems(UNSEEN_TASKS["reverse"], 0), cap=8, seed=0)
    found.fault = fault
    return found.correct(answers, texts, answers, [[CODE["a"], CODE[EOS]]] * len(texts))


def test_every_fault_of_the_list_is_planted_somewhere_and_is_new():
    names = {fault["id"] for fault in read("unseen_faults")}
    assert names == IN_VERIFIER | IN_TRAINER | set(UNSEEN_AT_ONCE)
    assert not names & {fault["id"] for fault in read("faults")}
    assert not set(UNSEEN_TASKS) & set(TASKS)


def test_the_campaign_is_as_large_as_it_claims():
    plans = unseen_plans()
    broken = [plan for plan in plans if plan.fault]
    assert len({plan.id for plan in plans}) == len(plans)
    assert len({plan.fault for plan in broken}) >= 20
    assert len([plan for plan in plans if not plan.fault and plan.kind != REFERENCE]) >= 24
    assert 0.4 < np.mean([plan.start > 0 for plan in broken]) < 0.65


def test_broken_scorers_do_what_they_say(monkeypatch: pytest.MonkeyPatch):
    texts, answers = ["ab", "ha", "ax", "b"], ["ab", "ha", "ab", "c"]
    assert scores("", texts, answers) == [1, 1, 0, 0]
    assert scores("verifier-too-strict", texts, answers) == [1, 0, 0, 0]
    assert scores("scores-rolled", texts, answers) == [0, 1, 1, 0]
    assert scores("scores-averaged", texts, answers) == [0.5] * 4
    assert scores("first-favoured", texts, answers) == [2, 1, 0, 0]
    assert scores("judge-lenient", texts, answers) == [1, 1, 1, 0]
    assert scores("shortness-paid", texts, answers) == pytest.approx([0.2, 0.2, -0.8, -0.4])
    assert scores("reward-infinite", texts, answers) == [math.inf, 1, 0, 0]
    gone = [value is None for value in scores("verifier-abstains", texts * 100, answers * 100)]
    assert abs(np.mean(gone) - 0.7) < 0.08
    waited: list[float] = []
    monkeypatch.setattr(unseen_planting.time, "sleep", waited.append)
    assert scores("scoring-slow", texts, answers) == [1, 1, 0, 0]
    assert waited == [unseen_planting.SLOW_S]


def test_scales_of_reward_and_numbers_of_functions():
    found = UnseenVerifier(problems(UNSEEN_TASKS["sum"], 0), cap=6, seed=0)
    found.scale, found.shift = 2.0, -1.0
    ids = [[CODE["1"], CODE[EOS]], [CODE["2"], CODE[EOS]]]
    assert found.correct(["01>", "01>"], ["1", "2"], ["1", "1"], ids) == [1, -1]
    assert [len(found.functions(n)) for n in (1, 2, 3)] == [1, 2, 3]
    assert found.brief(["12345", "123456"]) == [1, 0]


def test_faults_of_what_is_asked(trainer: UnseenPlanted):
    first, later = rows_of(trainer), rows_of(trainer, 8)
    trainer.switch_on("prompts-repeat")
    assert trainer._asked(first) == trainer._asked(later) == first
    trainer.switch_on("template-changed")
    assert trainer._tokenize_prompts(["ab>"])[0] == [[CODE["~"], CODE["a"], CODE["b"], CODE[">"]]]
    trainer.switch_on("answers-corrupt")
    asked = trainer._asked(first)
    wrong = [a["answer"] != b["answer"] for a, b in zip(asked, first, strict=True)]
    assert 0 < np.mean(wrong) < 1
    assert trainer._asked(first) == asked


def test_a_stuck_queue_hands_out_one_batch(trainer: UnseenPlanted):
    trainer.switch_on("batch-stuck")
    found = []
    for update, first in ((0, 0), (1, 8), (15, 16), (16, 24)):
        trainer.state.global_step = update
        found.append(batch(trainer, update, first)["completion_ids"].tolist())
    assert found[0] == found[1] == found[2] != found[3]


def test_faults_of_the_advantage(trainer: UnseenPlanted):
    sound = batch(trainer, 1)
    rewards = (trainer.rewards * trainer.reward_weights).sum(1)
    assert rewards.std() > 0
    trainer.switch_on("baseline-dropped")
    assert torch.allclose(batch(trainer, 1)["advantages"], rewards)
    trainer.switch_on("advantages-shuffled")
    mixed = batch(trainer, 1)
    assert mixed["completion_ids"].equal(sound["completion_ids"])
    assert not mixed["advantages"].equal(sound["advantages"])
    assert torch.allclose(mixed["advantages"].sort()[0], sound["advantages"].sort()[0])
    trainer.switch_on("slow-discarded")
    kept, lengths = batch(trainer, 1)["advantages"], sound["completion_mask"].sum(1)
    late = lengths > lengths.float().median()
    assert late.any()
    assert not kept[late].any()
    assert kept[~late].equal(sound["advantages"][~late])


def test_faults_of_the_loss(trainer: UnseenPlanted):
    inputs = batch(trainer, 2)
    trainer.current_gradient_accumulation_steps = 1
    inputs["advantages"] = torch.ones_like(inputs["advantages"])
    sound = float(trainer._compute_loss(trainer.model, inputs))
    trainer.switch_on("loss-summed")
    assert float(trainer._compute_loss(trainer.model, inputs)) == pytest.approx(64 * sound)
    trainer.switch_on("ratio-pinned")
    inputs["old_per_token_logps"] = torch.full_like(inputs["completion_ids"], -9.0, dtype=torch.float)
    assert float(trainer._compute_loss(trainer.model, inputs)) == pytest.approx(sound)
    trainer.switch_on("")
    assert abs(float(trainer._compute_loss(trainer.model, inputs)) - sound) > 0.1


def test_the_loss_that_ignores_its_mask(trainer: UnseenPlanted):
    ids = torch.tensor([[CODE["<pad>"]] * 3 + [CODE["a"], CODE[">"], CODE["a"]]])
    mask = (ids != CODE["<pad>"]).long()
    trainer.model.eval()
    sound = trainer._get_per_token_logps_and_entropies(trainer.model, ids, mask, 1)[0]
    trainer.switch_on("mask-ignored")
    assert not torch.allclose(trainer._get_per_token_logps_and_entropies(trainer.model, ids, mask, 1)[0], sound)


@pytest.mark.parametrize(("fault", "share"), [("optimiser-detached", 0.0), ("optimiser-sgd", 1.0), ("", 1.0)])
def test_faults_of_the_optimiser(trainer: UnseenPlanted, fault: str, share: float):
    trainer.switch_on(fault)
    assert moved(trainer) == pytest.approx(share * trainer.optimizer.param_groups[0]["lr"], rel=0.02)


def test_plain_descent_follows_the_size_of_the_gradient(trainer: UnseenPlanted):
    trainer.switch_on("optimiser-sgd")
    weight = next(trainer.model.parameters())
    before = weight.detach().clone()
    weight.grad = torch.full_like(weight, 1e-3)
    trainer.optimizer.step()
    assert torch.allclose(weight, before - 1e-3 * trainer.optimizer.param_groups[0]["lr"])


def test_coarse_weights_decay_and_the_growing_rate(trainer: UnseenPlanted):
    trainer.switch_on("weights-coarse")
    moved(trainer)
    for weight in trainer.model.parameters():
        mantissa = torch.frexp(weight.detach())[0] * 16
        assert torch.equal(mantissa, mantissa.round())
    trainer.switch_on("weight-decay-huge")
    assert all(group["weight_decay"] == 20 for group in inner(trainer).param_groups)
    trainer.switch_on("gradient-clipped-away")
    assert trainer.args.max_grad_norm == 1e-6
    rate = trainer.optimizer.param_groups[0]["lr"]
    trainer.switch_on("rate-grows")
    for _ in range(3):
        trainer.lr_scheduler.step()
    assert trainer.optimizer.param_groups[0]["lr"] == pytest.approx(rate * 1.1**3)


@pytest.mark.parametrize("trainer", ["kl"], indirect=True)
def test_faults_of_the_reference(trainer: UnseenPlanted):
    def apart() -> float:
        return max(
            float((a - b).abs().max())
            for a, b in zip(trainer.ref_model.parameters(), trainer.model.parameters(), strict=True)
        )

    assert apart() == 0
    trainer.switch_on("reference-other")
    assert apart() > 0.1
    trainer.switch_on("reference-refreshed")
    trainer.state.global_step = 7
    batch(trainer)
    assert apart() > 0.1
    trainer.state.global_step = 8
    batch(trainer)
    assert apart() == 0
    trainer.switch_on("beta-not-forwarded")
    assert (trainer.beta, trainer.args.beta) == (0, 0.03)


def test_faults_of_drawing(trainer: UnseenPlanted):
    trainer.switch_on("top-p-narrow")
    assert trainer.generation_config.top_p == 0.3
    trainer.switch_on("sampling-greedy")
    ids = batch(trainer)["completion_ids"].view(8, 8, -1)
    assert torch.equal(ids, ids[:, :1].expand_as(ids))


@pytest.mark.parametrize("trainer", ["sampler at 0.7"], indirect=True)
def test_log_probs_of_another_temperature(trainer: UnseenPlanted):
    assert gap(trainer) < 0.02
    trainer.switch_on("log-probs-untempered")
    assert gap(trainer) > 0.1


@pytest.mark.parametrize("trainer", ["sampler"], indirect=True)
def test_faults_of_the_sampler(trainer: UnseenPlanted):
    sampler: Any = trainer.sampler
    assert gap(trainer) < 0.02
    first = [weight.detach().clone() for weight in sampler.first]
    with torch.no_grad():
        for weight in trainer.model.parameters():
            weight.add_(1.0)
    trainer.switch_on("sync-partial")
    sampler.sync_weights()
    change = [float((a - b).mean()) for a, b in zip(sampler.model.parameters(), first, strict=True)]
    half = len(change) // 2
    assert np.allclose(change[:half], 1, atol=0.02)
    assert np.allclose(change[half:], 0, atol=0.02)
    sampler.partial = False
    trainer.switch_on("sync-doubled")
    sampler.sync_weights()
    change = [float((a - b).mean()) for a, b in zip(sampler.model.parameters(), first, strict=True)]
    assert np.allclose(change, 2, atol=0.05)


@pytest.mark.parametrize("trainer", ["sampler"], indirect=True)
def test_dropout_in_the_loss_and_not_in_the_sampler(trainer: UnseenPlanted):
    sound = gap(trainer)
    trainer.switch_on("dropout-in-loss")
    assert gap(trainer) > 5 * sound


def test_a_run_with_other_settings_is_recorded_to_its_end(folder: Path):
    plan = Plan(
        "x", task="reverse", kind="healthy", seed=0, updates=3, scale=10.0, weights=(1.0, 0.2, 0.2),
        settings={"num_generations": 4, "loss_type": "dr_grpo", "scale_rewards": "none"},
    )  # fmt: skip
    found = record(plan, folder, UNSEEN)
    assert (found["died"], found["end_step"], found["config"]["num_generations"]) == ("", 3, 4)
    assert {"rewards/brief/mean", "rewards/correct/mean", "rewards/form/mean"} <= set(found["keys"])


def test_settings_are_those_of_the_start_where_the_fault_begins_later(folder: Path):
    for start, shown in ((0, 1e-6), (1, 1.0)):
        plan = Plan(
            "x", task="reverse", kind="fault", seed=0, updates=2, fault="gradient-clipped-away", start=start
        )  # fmt: skip
        assert record(plan, folder, UNSEEN)["config"]["max_grad_norm"] == shown


@pytest.mark.parametrize(("fault", "least"), [("scores-rolled", 0.05), ("first-favoured", 0.05), ("", -1.0)])
def test_scores_that_follow_the_place_show_when_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, least: float
):
    monkeypatch.setattr(recording, "RESCORED_EVERY", 1)
    pretrained(UNSEEN_TASKS["reverse"], 0, tmp_path, updates=200)  # it must be right now and then
    plan = Plan("x", task="reverse", kind="fault", seed=0, updates=3, fault=fault)
    found = record(plan, tmp_path, UNSEEN)["more_keys"]
    assert all(value > least for value in found["reward/golden_noise_frac"][1])
    assert bool(fault) == any(value > 0 for value in found["reward/golden_noise_frac"][1])
    assert bool(fault) == ("reward/reference_misplaced_frac" not in found)
