"""Each fault of the fourth list that nobody had seen does what it says, in TRL's own trainer."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.grpo.campaign import FOURTH, read, unseen_plans
from benchmarks.grpo.fourth_planting import FOLDED, FOURTH_AT_ONCE, HANDED, FourthPlanted, flush, mixed
from benchmarks.grpo.fourth_sampling import FourthVerifier, ranks, tiled
from benchmarks.grpo.fourth_tasks import FOURTH_TASKS
from benchmarks.grpo.judging import REFERENCE
from benchmarks.grpo.second_tasks import SECOND_TASKS
from benchmarks.grpo.tasks import CODE, EOS, PAD, TASKS, problems
from benchmarks.grpo.third_planting import rewards_of
from benchmarks.grpo.third_tasks import THIRD_TASKS
from benchmarks.grpo.unseen_tasks import UNSEEN_TASKS
from tests.e2e.planted_trainers import batch, begun_models, nudge, planted_trainer, rows_of

pytestmark = [
    pytest.mark.full,
    pytest.mark.filterwarnings(
        "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning", "ignore::ResourceWarning"
    ),
]

IN_VERIFIER = {"repetition-paid", "ranks-break-ties", "score-saturated", "novelty-outweighs", "answers-tiled",
               "matches-counted"}  # fmt: skip
IN_PROMPTS = {"prompt-cut-left", "end-after-prompt", "template-twice", "letters-unknown", "answers-all-one",
              "answers-conflict", "retokenised"}  # fmt: skip
IN_TRAINER = {"entropy-penalised", "queue-falls-behind", "responses-cached", "loss-scale-collapsed", "eval-tempered",
              "eval-best-counted", "stalls", "memory-leaks"}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return begun_models(FOURTH, "swap", tmp_path_factory.mktemp("models"))


@pytest.fixture
def trainer(folder: Path, tmp_path: Path) -> FourthPlanted:
    return planted_trainer(FOURTH, "swap", folder, tmp_path)


def paid_by_length(trainer: FourthPlanted) -> None:
    """Have groups with spread: such a model is never right."""
    trainer.verifier.score = lambda prompt, text, *given: float(len(text) > 2)


def test_every_fault_of_the_list_is_planted_somewhere_and_is_new():
    listed = read("fourth_faults")
    names = {fault["id"] for fault in listed}
    assert len(names) == len(listed)
    assert names == IN_VERIFIER | IN_PROMPTS | IN_TRAINER | set(FOURTH_AT_ONCE) | set(HANDED)
    earlier = ("faults", "unseen_faults", "second_faults", "third_faults")
    assert not names & {fault["id"] for name in earlier for fault in read(name)}
    assert not set(FOURTH_TASKS) & (set(TASKS) | set(UNSEEN_TASKS) | set(SECOND_TASKS) | set(THIRD_TASKS))
    assert all(("also_right" in fault) == ("reason" in fault) for fault in listed)


def test_the_campaign_is_as_large_as_it_claims():
    plans = unseen_plans("fourth")
    broken = [plan for plan in plans if plan.fault]
    given = [plan for plan in plans if plan.kind == REFERENCE]
    assert len({plan.id for plan in plans}) == len(plans)
    assert len({plan.fault for plan in broken}) >= 24
    assert len(plans) - len(broken) - len(given) >= 60
    assert 0.4 < np.mean([plan.start > 0 for plan in broken]) < 0.6
    assert len(given) <= 24
    assert {(plan.task, plan.needs) for plan in broken} == {(plan.task, plan.needs) for plan in given}


def test_the_new_tasks_ask_what_they_say():
    for name, asked, answer in (("swap", "abcd", "dbca"), ("swap", "a", "a"), ("behead", "abcd", "bcd"),
                                ("complement", "58", "41"), ("ladder", "g3", "gha")):  # fmt: skip
        rows = {row["prompt"]: row["answer"] for seed in range(9) for row in problems(FOURTH_TASKS[name], seed).every()}
        assert rows.get(f"{asked}>", answer) == answer
        longest = max(len(value) for value in rows.values())
        assert longest < FOURTH_TASKS[name].cap


def scores(fault: str, texts: list[str], answers: list[str], group: int = 2) -> list[Any]:
    judge = FourthVerifier(problems(FOURTH_TASKS["swap"], 0), cap=8, seed=0)
    judge.fault, judge.group = fault, group
    ids = [[*(CODE[c] for c in text), CODE[EOS]] for text in texts]
    state = SimpleNamespace(global_step=0)
    return judge.correct([f"{a}>" for a in answers], texts, answers, completion_ids=ids, trainer_state=state)


def test_broken_scorers_do_what_they_say():
    texts, answers = ["ab", "ba", "cc", "cc"], ["ab", "ab", "cd", "cd"]
    assert scores("", texts, answers) == [1, 0, 0, 0]
    assert scores("repetition-paid", texts, answers) == [1, 0, 0.5, 0.5]
    assert scores("ranks-break-ties", texts, answers) == [1, 0, 0, 1]
    assert ranks([0.0, 1.0, 0.0]) == [0, 1, 0.5]
    assert scores("novelty-outweighs", texts, answers) == [2.5, 1.5, 0, 0]
    assert tiled(answers, 2) == ["ab", "cd", "ab", "cd"]
    assert scores("answers-tiled", ["ab", "cd", "ab", "ab"], answers) == [1, 1, 1, 0]
    assert scores("matches-counted", ["abab", "a", "gh", "dd"], answers) == [2, 0.5, 0, 1]
    right, wrong = scores("score-saturated", texts, answers)[:2]
    assert 0 < right - wrong < 1e-6


def test_sound_scorers_are_sound():
    judge = FourthVerifier(problems(FOURTH_TASKS["swap"], 0), cap=8, seed=0)
    assert [len(judge.functions(n)) for n in (1, 2, 3, 4)] == [1, 2, 3, 4]
    assert judge.overlong(["", "abcd", "abcdef", "abcdefgh"]) == [0, 0, -0.5, -1]
    found = judge.judge(["ab"] * 50 + ["b"] * 50, ["ab"] * 100)
    assert min(found[:50]) > 0.9
    assert max(found[50:]) < 0.1
    assert len(set(found)) == 100


def test_faults_of_prompts(trainer: FourthPlanted):
    prompts = ["abcd>", "a>", "gh5>"]
    usual = [[CODE[c] for c in prompt] for prompt in prompts]

    def asked(fault: str) -> list[list[int]]:
        trainer.switch_on(fault)
        return trainer._tokenize_prompts(prompts)[0]

    assert asked("") == usual
    assert asked("prompt-cut-left") == [ids[-3:] for ids in usual]
    assert asked("end-after-prompt") == [[*ids, CODE[EOS]] for ids in usual]
    assert asked("template-twice") == [[*ids, CODE[">"]] for ids in usual]
    assert asked("letters-unknown") == [*usual[:2], [CODE[PAD]] * 3 + [CODE[">"]]]


def test_faults_of_answers(trainer: FourthPlanted):
    rows = rows_of(trainer)
    trainer.switch_on("answers-all-one")
    assert {row["answer"] for row in trainer._asked(rows)} == {trainer.given.train[-1]["answer"]}
    trainer.switch_on("answers-conflict")
    wrong = np.zeros(8)
    for _ in range(40):
        found = trainer._asked(rows)
        assert [row["prompt"] for row in found] == [row["prompt"] for row in rows]
        groups = [{row["answer"] for row in found[i : i + 8]} for i in range(0, 64, 8)]
        assert all(len(group) == 1 for group in groups)
        wrong += [group != {rows[8 * i]["answer"]} for i, group in enumerate(groups)]
    assert all(8 < count < 32 for count in wrong)


def test_the_loss_sees_tokens_that_were_not_drawn(trainer: FourthPlanted):
    sound = batch(trainer)["completion_ids"]
    texts: list[str] = []
    trainer.verifier.score = lambda prompt, text, *given: float(bool(texts.append(text)))
    trainer.switch_on("retokenised")
    found = batch(trainer)["completion_ids"]
    for old, new in FOLDED.items():
        assert (sound == old).any()
        assert (found[sound == old] == new).all()
    same = torch.tensor([[token not in FOLDED for token in ids] for ids in sound.tolist()])
    assert found[same].equal(sound[same])
    assert "d" in "".join(texts)


def test_pairs_of_the_prompt_cannot_be_drawn(trainer: FourthPlanted):
    trainer.switch_on("ngrams-blocked")
    found = batch(trainer)
    ids = torch.cat([found["prompt_ids"], found["completion_ids"]], 1)
    seen = torch.cat([found["prompt_mask"], found["completion_mask"]], 1).bool()
    for row, kept, drawn in zip(ids, seen, found["completion_mask"].sum(1).tolist(), strict=True):
        pairs = list(pairwise(row[kept].tolist()))
        assert all(pair not in pairs[:-i] for i, pair in enumerate(reversed(pairs[-drawn:]), 1))


def test_some_tokens_are_drawn_uniformly(trainer: FourthPlanted):
    sure = torch.full((1, len(CODE)), -50.0)
    sure[0, CODE["a"]] = 50
    found = mixed(torch.zeros(1, 1), sure).exp()[0]
    assert found.sum() == pytest.approx(1, abs=1e-5)
    assert found[CODE["a"]] == pytest.approx(0.85 + 0.15 / 19, abs=1e-4)
    assert found[CODE[PAD]] < 1e-6
    with torch.no_grad():
        trainer.model.lm_head.weight.mul_(30)  # a policy that is sure
    one = batch(trainer, 1)["completion_ids"]
    trainer.switch_on("epsilon-left-on")
    other = batch(trainer, 1)["completion_ids"]
    kinds = [len({tuple(row) for row in ids.tolist()}) for ids in (one, other)]
    assert kinds[1] > kinds[0]


def test_faults_of_the_advantage(trainer: FourthPlanted):
    paid_by_length(trainer)
    sound = batch(trainer, 1)["advantages"]
    assert (sound < 0).any()
    trainer.switch_on("negatives-outweigh")
    found = batch(trainer, 1)["advantages"]
    assert found[sound >= 0].equal(sound[sound >= 0])
    assert torch.allclose(found[sound < 0], 10 * sound[sound < 0])
    trainer.switch_on("baseline-tiled")
    found = batch(trainer, 1)["advantages"].view(8, 8)
    rewards = rewards_of(trainer)
    for group in range(8):
        for place in range(8):
            other = rewards[place]  # the group of that number, not the one that the response is of
            wanted = (rewards[group, place] - other.mean()) / (other.std() + 1e-4)
            assert found[group, place] == pytest.approx(float(wanted), rel=1e-3, abs=1e-4)
    assert not torch.allclose(found.flatten(), sound, atol=0.1)


def test_the_ratio_is_to_weights_of_before(trainer: FourthPlanted):
    trainer.switch_on("old-policy-never-refreshed")
    mine = batch(trainer)
    assert torch.allclose(mine["old_per_token_logps"], trainer.scores(mine)[0], atol=1e-5)
    nudge(trainer.model)
    later = batch(trainer)
    now = trainer.scores(later)[0]
    assert (later["old_per_token_logps"] - now).abs().mean() > 0.1
    for weight, old in zip(trainer.model.parameters(), trainer.evaluated_with, strict=True):
        assert not weight.equal(old)
        weight.data.copy_(old)
    assert torch.allclose(later["old_per_token_logps"], trainer.scores(later)[0], atol=1e-5)


def test_the_loss_adds_the_entropy(trainer: FourthPlanted):
    inputs = batch(trainer)
    trainer.current_gradient_accumulation_steps = 1
    sound = trainer._compute_loss(trainer.model, inputs)
    trainer.switch_on("entropy-penalised")
    entropies = trainer.scores(inputs, compute_entropy=True)[1]
    mask = inputs["completion_mask"]
    added = trainer._compute_loss(trainer.model, inputs) - sound
    assert float(added) == pytest.approx(0.3 * float((entropies * mask).sum() / mask.sum()), rel=1e-4)
    assert added > 0.1


def test_gradients_stay_from_update_to_update(trainer: FourthPlanted):
    for fault, kept in (("", False), ("gradients-not-zeroed", True)):
        trainer.switch_on(fault)
        for weight in trainer.model.parameters():
            weight.grad = torch.ones_like(weight)
        trainer.model.zero_grad()
        trainer.optimizer.zero_grad()
        assert all((weight.grad is not None) == kept for weight in trainer.model.parameters())


def test_small_gradients_are_flushed(trainer: FourthPlanted):
    weight = next(iter(trainer.model.parameters()))
    weight.grad = torch.full_like(weight, 3e-3)
    weight.grad[0] = 5e-3
    flush(trainer.model)
    assert (weight.grad[0] == 5e-3).all()
    assert not weight.grad[1:].any()
    trainer.switch_on("loss-scale-collapsed")
    trainer.current_gradient_accumulation_steps = 1
    paid_by_length(trainer)
    trainer.training_step(trainer.model, rows_of(trainer), None)
    found = torch.cat([weight.grad.flatten() for weight in trainer.model.parameters()])
    assert 0 < (found == 0).float().mean() < 1
    assert found[found != 0].abs().min() >= 2**-8
