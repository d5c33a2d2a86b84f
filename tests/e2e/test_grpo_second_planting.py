"""Each fault of the second list that nobody had seen does what it says, in TRL's own trainer."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.grpo import second_planting
from benchmarks.grpo.campaign import SECOND, read, unseen_plans
from benchmarks.grpo.judging import REFERENCE
from benchmarks.grpo.recording import Plan, record
from benchmarks.grpo.second_planting import SECOND_AT_ONCE, SecondPlanted, SecondVerifier, inner, last
from benchmarks.grpo.second_tasks import SECOND_TASKS
from benchmarks.grpo.tasks import CODE, EOS, PAD, TASKS, problems
from benchmarks.grpo.unseen_tasks import UNSEEN_TASKS
from tests.e2e.planted_trainers import batch, begun_models, gap, moved, planted_trainer, rows_of

pytestmark = [
    pytest.mark.full,
    pytest.mark.filterwarnings(
        "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning", "ignore::ResourceWarning"
    ),
]

IN_VERIFIER = {"scores-cached", "order-ignored", "judge-noisy"}
IN_TRAINER = {"generation-prompt-missing", "tokenizer-shifted", "one-prompt-a-batch", "answers-cut", "seeds-shared",
              "advantages-positive-only", "advantage-last-token", "mask-late", "accumulation-zeroed",
              "reference-unprompted", "eval-cut", "swapping"}  # fmt: skip
WITH_NEEDS = {"kl", "sampler", "accumulated", "evaluated"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return begun_models(SECOND, "shift", tmp_path_factory.mktemp("models"))


@pytest.fixture
def trainer(folder: Path, tmp_path: Path, request: pytest.FixtureRequest) -> SecondPlanted:
    return planted_trainer(SECOND, "shift", folder, tmp_path, getattr(request, "param", ""))


def verifier(fault: str = "") -> SecondVerifier:
    found = SecondVerifier(problems(SECOND_TASKS["shift"], 0), cap=8, seed=0)
    found.fault = fault
    return found


def scores(judge: SecondVerifier, texts: list[str], answers: list[str], update: int = 0) -> list[Any]:
    state = SimpleNamespace(global_step=update)
    return judge.correct(answers, texts, answers, [[CODE["a"], CODE[EOS]]] * len(texts), trainer_state=state)


def test_every_fault_of_the_list_is_planted_somewhere_and_is_new():
    listed = read("second_faults")
    names = {fault["id"] for fault in listed}
    assert len(names) == len(listed)
    assert names == IN_VERIFIER | IN_TRAINER | set(SECOND_AT_ONCE)
    assert not names & {fault["id"] for name in ("faults", "unseen_faults") for fault in read(name)}
    assert not set(SECOND_TASKS) & (set(TASKS) | set(UNSEEN_TASKS))
    assert all(("also_right" in fault) == ("reason" in fault) for fault in listed)


def test_the_campaign_is_as_large_as_it_claims():
    plans = unseen_plans("second")
    broken = [plan for plan in plans if plan.fault]
    assert len({plan.id for plan in plans}) == len(plans)
    assert len({plan.fault for plan in broken}) >= 24
    assert len([plan for plan in plans if not plan.fault and plan.kind != REFERENCE]) >= 40
    assert 0.4 < np.mean([plan.start > 0 for plan in broken]) < 0.6
    assert {plan.needs for plan in broken} <= {plan.needs for plan in plans if plan.kind == REFERENCE}


def test_broken_scorers_do_what_they_say():
    texts, answers = ["bc", "cb", "bc", "b"], ["bc", "bc", "cd", "b"]
    assert scores(verifier(), texts, answers) == [1, 0, 0, 1]
    assert scores(verifier("scores-cached"), texts, answers) == [1, 0, 1, 1]
    assert scores(verifier("order-ignored"), texts, answers) == [1, 1, 0, 1]
    noise = np.array(scores(verifier("judge-noisy"), texts * 300, answers * 300)) - [1, 0, 0, 1] * 300
    assert abs(noise.std() - 1) < 0.1
    assert abs(noise.mean()) < 0.1


def test_a_scale_that_drifts_begins_where_the_fault_begins(trainer: SecondPlanted):
    trainer.state.global_step = 30
    trainer.switch_on("scale-drifts")
    judge: Any = trainer.verifier
    assert scores(judge, ["bc", "b"], ["bc", "c"], update=30) == [1, 0]
    assert scores(judge, ["bc", "b"], ["bc", "c"], update=40) == pytest.approx([1.02**10, 0])
    again = judge.correct(["bc"], ["bc"], ["bc"], [[CODE["b"], CODE[EOS]]])  # asked outside an update
    assert again == pytest.approx([1.02**10])


def test_the_reward_functions_that_are_sound():
    judge = verifier()
    assert [len(judge.functions(n)) for n in (1, 2, 3, 4)] == [1, 2, 3, 4]
    assert judge.near(["bcd", "bc", "", "b"], ["bcd", "bd", "b", "bcde"]) == [1, 0.5, 0, 0.25]
    assert judge.prompt_short(["a>", "ab>", "abc>"], ["b", "bcdefgh", "b"]) == [1, 0, None]


def test_faults_of_what_is_asked(trainer: SecondPlanted):
    rows = rows_of(trainer)
    trainer.switch_on("one-prompt-a-batch")
    asked = trainer._asked(rows)
    assert {row["prompt"] for row in asked} == {rows[0]["prompt"]}
    assert len(asked) == len(rows)
    trainer.switch_on("answers-cut")
    assert [row["answer"] for row in trainer._asked(rows)] == [row["answer"][:2] for row in rows]
    assert any(len(row["answer"]) > 2 for row in rows)
    trainer.switch_on("generation-prompt-missing")
    assert trainer._tokenize_prompts(["ab>"])[0] == [[CODE["a"], CODE["b"]]]
    trainer.switch_on("tokenizer-shifted")
    assert trainer._tokenize_prompts(["ah>", "09>"])[0] == [
        [CODE["b"], CODE["a"], CODE[">"]], [CODE["1"], CODE["0"], CODE[">"]],
    ]  # fmt: skip


def test_special_tokens_reach_the_verifier(trainer: SecondPlanted):
    def heard() -> list[str]:
        found: list[str] = []
        usual = trainer.verifier.score
        trainer.verifier.score = lambda prompt, text, *given: found.append(text) or usual(prompt, text, *given)
        batch(trainer)
        trainer.verifier.score = usual
        return found

    assert not any(EOS in text for text in heard())
    trainer.switch_on("special-tokens-kept")
    assert any(text.endswith(EOS) for text in heard())


def test_prompts_are_padded_on_the_right(trainer: SecondPlanted):
    seen: list[Any] = []
    usual = trainer.model.generate
    trainer.model.generate = lambda **kept: seen.append(kept["input_ids"]) or usual(**kept)
    trainer.switch_on("prompts-padded-right")
    found = batch(trainer)
    (ids,) = seen
    lengths = found["prompt_mask"].sum(1)
    assert lengths.min() < lengths.max()
    for row, prompt, mask in zip(ids, found["prompt_ids"], found["prompt_mask"].bool(), strict=True):
        assert row[: mask.sum()].equal(prompt[mask])
        assert (row[mask.sum() :] == CODE[PAD]).all()


def test_faults_of_drawing(trainer: SecondPlanted):
    trainer.switch_on("repetition-penalised")
    assert trainer.generation_config.repetition_penalty == 2.0
    trainer.generation_config.repetition_penalty = 1.0
    sound = batch(trainer)["completion_mask"].sum(1)
    assert sound.min() < 5
    trainer.switch_on("stop-token-in-answers")
    found = batch(trainer)
    ends = torch.isin(found["completion_ids"], torch.tensor([CODE[EOS], CODE["c"], CODE["3"]]))
    assert not (ends[:, :-1] & found["completion_mask"][:, 1:].bool()).any()
    assert (ends & (found["completion_ids"] != CODE[EOS])).any()
    trainer.eos_token_ids, trainer.generation_config.eos_token_id = [CODE[EOS]], CODE[EOS]
    trainer.switch_on("responses-forced-long")
    assert batch(trainer)["completion_mask"].sum(1).min() > 5
    trainer.generation_config.min_new_tokens = None
    trainer.switch_on("seeds-shared")
    ids = batch(trainer)["completion_ids"].view(8, 8, -1)
    assert all(len({tuple(row.tolist()) for row in group}) <= 2 for group in ids)
    assert torch.equal(ids[:, :2].repeat(1, 4, 1), ids)


def test_faults_of_the_advantage_and_the_mask(trainer: SecondPlanted):
    trainer.verifier.score = lambda prompt, text, *given: float(len(text) > 2)  # such a model is never right
    sound = batch(trainer, 1)
    assert (sound["advantages"] < 0).any()
    trainer.switch_on("advantages-positive-only")
    kept = batch(trainer, 1)["advantages"]
    assert kept.equal(sound["advantages"].clamp(min=0))
    trainer.switch_on("mask-late")
    late = batch(trainer, 1)
    assert not late["tool_mask"][:, 0].any()
    assert late["tool_mask"][:, 1:].all()
    assert late["completion_mask"].equal(sound["completion_mask"])


def gradient(trainer: SecondPlanted, inputs: dict[str, Any]) -> torch.Tensor:
    trainer.current_gradient_accumulation_steps = 1
    trainer.model.zero_grad()
    trainer._compute_loss(trainer.model, inputs).backward()
    return trainer.model.lm_head.weight.grad.clone()


def test_first_tokens_are_not_trained_and_the_advantage_reaches_the_last_token_only(trainer: SecondPlanted):
    inputs = batch(trainer, 2)
    inputs["advantages"] = torch.ones_like(inputs["advantages"])
    whole = gradient(trainer, inputs)
    only = {**inputs, "tool_mask": last(inputs["completion_mask"])}
    assert only["tool_mask"].sum(1).eq(1).all()
    ends = gradient(trainer, only)
    trainer.switch_on("advantage-last-token")
    assert torch.allclose(gradient(trainer, inputs), ends, atol=1e-6)
    trainer.switch_on("")
    late = torch.ones_like(inputs["completion_mask"])
    late[:, 0] = 0
    assert not torch.allclose(gradient(trainer, {**inputs, "tool_mask": late}), whole, atol=1e-4)
    assert last(torch.tensor([[1, 1, 0], [1, 1, 1]])).tolist() == [[0, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize("trainer", ["reused"], indirect=True)
def test_the_clip_that_is_too_tight_binds(trainer: SecondPlanted):
    inputs = batch(trainer, 2)
    inputs["advantages"] = torch.ones_like(inputs["advantages"])
    inputs["old_per_token_logps"] = inputs["old_per_token_logps"] - 0.05  # a ratio of 1.05
    assert gradient(trainer, inputs).abs().max() > 0
    trainer.switch_on("clip-too-tight")
    assert gradient(trainer, inputs).abs().max() == 0


@pytest.mark.parametrize("trainer", ["accumulated"], indirect=True)
def test_gradients_of_earlier_micro_batches_are_lost(trainer: SecondPlanted):
    assert (trainer.args.steps_per_generation, trainer.args.gradient_accumulation_steps) == (4, 4)
    trainer.verifier.score = lambda prompt, text, *given: float(len(text) > 2)
    rows = rows_of(trainer)

    def summed(fault: str) -> list[torch.Tensor]:
        trainer.switch_on(fault)
        trainer._step, trainer._buffered_inputs = 0, None
        trainer.current_gradient_accumulation_steps = 4
        trainer.model.train()
        trainer.model.zero_grad()
        torch.manual_seed(0)
        found = []
        for _ in range(4):
            trainer.training_step(trainer.model, rows, None)
            found.append(trainer.model.lm_head.weight.grad.clone())
        return found

    sound, lost = summed(""), summed("accumulation-zeroed")
    assert torch.allclose(lost[0], sound[0], atol=1e-7)
    assert torch.allclose(lost[3], sound[3] - sound[2], atol=1e-6)
    assert not torch.allclose(lost[3], sound[3], atol=1e-6)


@pytest.mark.parametrize("trainer", ["kl"], indirect=True)
def test_the_reference_that_does_not_see_the_question(trainer: SecondPlanted):
    sound = batch(trainer, 1)
    trainer.switch_on("reference-unprompted")
    blind = batch(trainer, 1)
    assert blind["completion_ids"].equal(sound["completion_ids"])
    assert not torch.allclose(blind["ref_per_token_logps"], sound["ref_per_token_logps"], atol=1e-3)
    one = {key: blind[key] for key in ("completion_ids", "ref_per_token_logps")}
    same = torch.all(one["completion_ids"] == one["completion_ids"][0], 1)  # alike whatever was asked
    assert torch.allclose(one["ref_per_token_logps"][same], one["ref_per_token_logps"][0], atol=1e-4)
    ids = torch.cat([sound["prompt_ids"], sound["completion_ids"]], 1)
    mask = torch.cat([sound["prompt_mask"], sound["completion_mask"]], 1)
    size = sound["completion_ids"].size(1)
    asked = [trainer._get_per_token_logps_and_entropies(trainer.model, ids, mask, size)[0]]
    trainer.switch_on("")
    asked.append(trainer._get_per_token_logps_and_entropies(trainer.model, ids, mask, size)[0])
    assert torch.equal(*asked)  # the policy sees it


def test_faults_of_the_optimiser(trainer: SecondPlanted):
    trainer.switch_on("betas-swapped")
    assert all(group["betas"] == (0.999, 0.9) for group in inner(trainer).param_groups)
    rate = trainer.optimizer.param_groups[0]["lr"]
    trainer.switch_on("warmup-repeats")
    seen = []
    for _ in range(12):
        trainer.lr_scheduler.step()
        seen.append(trainer.optimizer.param_groups[0]["lr"] / rate)
    assert seen == pytest.approx([0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 0.1, 0.2, 0.3])


def test_three_of_four_steps_are_skipped(trainer: SecondPlanted):
    trainer.switch_on("steps-skipped")
    made = []
    for update in range(8):
        trainer.state.global_step = update
        made.append(moved(trainer) > 0)
    assert made == [True, False, False, False] * 2


def test_weights_of_the_beginning_come_back(trainer: SecondPlanted):
    first = [weight.detach().clone() for weight in trainer.model.parameters()]
    assert moved(trainer) > 0
    trainer.switch_on("resume-from-base")
    assert all(a.equal(b) for a, b in zip(trainer.model.parameters(), first, strict=True))
    assert all(float(state["step"]) == 1 for state in inner(trainer).state.values())


@pytest.mark.parametrize("trainer", ["sampler"], indirect=True)
def test_layers_are_swapped_on_their_way(trainer: SecondPlanted):
    assert gap(trainer) < 0.02
    trainer.switch_on("sync-misnamed")
    assert gap(trainer) > 0.02
    mine, theirs = trainer.sampler.model.model.layers, trainer.model.model.layers
    for a, b in ((0, 1), (1, 0)):
        assert torch.allclose(mine[a].mlp.up_proj.weight, theirs[b].mlp.up_proj.weight, atol=0.01)


@pytest.mark.parametrize("trainer", ["sampler"], indirect=True)
def test_half_of_the_groups_are_drawn_by_old_weights(trainer: SecondPlanted):
    assert gap(trainer) < 0.02
    trainer.switch_on("replica-stale")
    assert gap(trainer) < 0.02
    torch.manual_seed(1)
    with torch.no_grad():
        for weight in trainer.model.parameters():
            weight.add_(0.3 * torch.randn_like(weight))
    trainer._last_loaded_step = -1
    found = batch(trainer)
    apart = (found["old_per_token_logps"] - found["sampling_per_token_logps"]).abs() * found["completion_mask"]
    assert apart[:32].max() < 0.3 < apart[32:].mean()


@pytest.mark.parametrize("trainer", ["evaluated"], indirect=True)
def test_evaluation_alone_is_cut(trainer: SecondPlanted):
    trainer.switch_on("eval-cut")
    assert batch(trainer)["completion_mask"].sum(1).max() > 1
    trainer.model.eval()
    assert trainer._generate_and_score_completions(rows_of(trainer))["completion_mask"].sum(1).max() == 1
    trainer.model.train()
    assert batch(trainer)["completion_mask"].sum(1).max() > 1
    assert not {row["prompt"] for row in trainer.eval_dataset} & {row["prompt"] for row in trainer.train_dataset}


def test_each_update_is_slower_than_the_one_before(trainer: SecondPlanted, monkeypatch: pytest.MonkeyPatch):
    waited: list[float] = []
    monkeypatch.setattr(second_planting.time, "sleep", waited.append)
    batch(trainer)
    assert not waited
    trainer.switch_on("swapping")
    for _ in range(3):
        batch(trainer)
    assert waited == pytest.approx([0.004, 0.008, 0.012])


@pytest.mark.parametrize("needs", sorted(WITH_NEEDS))
def test_a_run_is_recorded_to_its_end(folder: Path, needs: str):
    plan = Plan("x", task="shift", kind="healthy", seed=0, needs=needs, updates=8, weights=(1.0, 0.1, 0.2, 0.2))
    found = record(plan, folder, SECOND)
    assert (found["died"], found["end_step"]) == ("", 8)
    assert {"rewards/near/mean", "rewards/prompt_short/mean"} <= set(found["keys"])
    assert ("eval_reward" in found["keys"]) == (needs == "evaluated")
