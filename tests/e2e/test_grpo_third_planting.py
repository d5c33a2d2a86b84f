"""Each fault of the third list that nobody had seen does what it says, in TRL's own trainer."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.grpo.campaign import THIRD, read, unseen_plans
from benchmarks.grpo.judging import REFERENCE
from benchmarks.grpo.second_tasks import SECOND_TASKS
from benchmarks.grpo.tasks import CODE, EOS, PAD, TASKS, problems
from benchmarks.grpo.third_planting import ADVANTAGES, ROWS, THIRD_AT_ONCE, ThirdPlanted, inner, leave_one_out
from benchmarks.grpo.third_sampling import ThirdVerifier, read_as
from benchmarks.grpo.third_tasks import THIRD_TASKS
from benchmarks.grpo.unseen_tasks import UNSEEN_TASKS
from tests.e2e.planted_trainers import batch, begun_models, moved, nudge, planted_trainer, rows_of

pytestmark = [
    pytest.mark.full,
    pytest.mark.filterwarnings(
        "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning", "ignore::ResourceWarning"
    ),
]

IN_VERIFIER = {"scores-of-last-batch", "fails-open", "columns-crossed", "score-at-padding", "eval-lenient"}
IN_TRAINER = {"history-kept", "answer-leaked", "requests-aborted", "seed-reset", "replay-mixed", "beta-runs-away",
              "mixup-reversed"}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return begun_models(THIRD, "rotate", tmp_path_factory.mktemp("models"))


@pytest.fixture
def trainer(folder: Path, tmp_path: Path, request: pytest.FixtureRequest) -> ThirdPlanted:
    return planted_trainer(THIRD, "rotate", folder, tmp_path, getattr(request, "param", ""))


needing = pytest.mark.parametrize


def paid_by_length(trainer: ThirdPlanted) -> None:
    """Have groups with spread: such a model is never right."""
    trainer.verifier.score = lambda prompt, text, *given: float(len(text) > 2)


def weights_of(model: Any) -> list[torch.Tensor]:
    return [weight.detach().clone() for weight in model.parameters()]


def test_every_fault_of_the_list_is_planted_somewhere_and_is_new():
    listed = read("third_faults")
    names = {fault["id"] for fault in listed}
    assert len(names) == len(listed)
    assert names == IN_VERIFIER | IN_TRAINER | set(THIRD_AT_ONCE) | set(ADVANTAGES) | set(ROWS)
    assert not names & {f["id"] for name in ("faults", "unseen_faults", "second_faults") for f in read(name)}
    assert not set(THIRD_TASKS) & (set(TASKS) | set(UNSEEN_TASKS) | set(SECOND_TASKS))
    assert all(("also_right" in fault) == ("reason" in fault) for fault in listed)


def test_the_campaign_is_as_large_as_it_claims():
    plans = unseen_plans("third")
    broken = [plan for plan in plans if plan.fault]
    assert len({plan.id for plan in plans}) == len(plans)
    assert len({plan.fault for plan in broken}) >= 24
    assert len([plan for plan in plans if not plan.fault and plan.kind != REFERENCE]) >= 50
    assert 0.4 < np.mean([plan.start > 0 for plan in broken]) < 0.6
    assert {plan.needs for plan in broken} <= {plan.needs for plan in plans if plan.kind == REFERENCE}


def test_the_new_tasks_ask_what_they_say():
    for name, asked, answer in (("rotate", "abc", "bca"), ("middle", "abc", "b"), ("successor", "59", "60"),
                                ("close", "ab", "abaa")):  # fmt: skip
        rows = {row["prompt"]: row["answer"] for seed in range(9) for row in problems(THIRD_TASKS[name], seed).every()}
        assert rows.get(f"{asked}>", answer) == answer
        assert len({len(value) for value in rows.values()}) == 1 or name in ("rotate", "close")


def scores(fault: str, texts: list[str], answers: list[str], asked: list[str] | None = None, **kept: Any) -> list[Any]:
    judge = ThirdVerifier(problems(THIRD_TASKS["rotate"], 0), cap=8, seed=0)
    judge.fault = fault
    for name, value in kept.items():
        setattr(judge, name, value)
    ids = [[*(CODE[c] for c in text), CODE[EOS]] for text in texts]
    prompts = [f"{one}>" for one in asked or answers]
    return judge.correct(prompts, texts, answers, completion_ids=ids, trainer_state=SimpleNamespace(global_step=0))


def test_broken_scorers_do_what_they_say():
    texts, answers = ["bc", "", "1c", "cd", "b"], ["bc", "a", "b", "dc", "b"]
    assert scores("", texts, answers) == [1, 0, 0, 0, 1]
    assert scores("fails-open", texts, answers) == [1, 1, 1, 0, 1]
    assert [read_as(text, "12") for text in ("3", "", "a", "1a")] == [True, False, False, False]
    assert scores("columns-crossed", texts, answers, ["x", "y", "z", "cd", "y"]) == [0, 0, 0, 1, 0]
    assert scores("score-at-padding", texts, answers) == [1, 0, 0, 0, 0]
    assert scores("eval-lenient", texts, answers) == [1, 0, 0, 0, 1]
    assert scores("eval-lenient", texts, answers, evaluating=True) == [1, 0, 0, 1, 1]
    assert scores("scores-of-last-batch", texts, answers) == [1, 0, 0, 0, 1]
    assert scores("scores-of-last-batch", texts, answers, last=[0, 0, 9, 0, 0]) == [0, 0, 9, 0, 0]
    assert scores("scores-of-last-batch", texts, answers, last=[0]) == [1, 0, 0, 0, 1]


def test_the_continuous_score_is_of_the_text():
    judge = ThirdVerifier(problems(THIRD_TASKS["rotate"], 0), cap=8, seed=0)
    assert [len(judge.functions(n)) for n in (1, 2, 3)] == [1, 2, 3]
    found = judge.tone(["a", "b", "a", ""])
    assert len(set(found)) == 3
    assert all(0 <= value < 1 for value in found)


def test_faults_of_what_is_asked(trainer: ThirdPlanted):
    rows = rows_of(trainer)
    prompts = [row["prompt"] for row in rows]
    trainer.switch_on("history-kept")
    for asked, before, ids in zip(prompts, prompts[-8:] + prompts, trainer._tokenize_prompts(prompts)[0], strict=False):
        assert ids == [CODE[c] for c in before + asked]
    trainer.switch_on("answer-leaked")
    for row, ids in zip(rows, trainer._tokenize_prompts(prompts)[0], strict=True):
        assert ids == [CODE[c] for c in row["answer"] + row["prompt"]]


def test_padding_counts_as_response_where_the_end_is_unknown(trainer: ThirdPlanted):
    sound = batch(trainer)
    ended = (sound["completion_ids"] == CODE[EOS]).cumsum(1)
    after = (ended - (sound["completion_ids"] == CODE[EOS]).long()) > 0
    assert after.any()
    assert not sound["completion_mask"][after].any()
    trainer.switch_on("end-unknown-to-trainer")
    found = batch(trainer)
    assert found["completion_ids"].equal(sound["completion_ids"])
    assert found["completion_mask"].all()
    assert (found["completion_ids"][after] == CODE[PAD]).all()


def test_faults_of_drawing(trainer: ThirdPlanted):
    trainer.switch_on("seed-reset")
    assert batch(trainer, 1)["completion_ids"].equal(batch(trainer, 2)["completion_ids"])
    trainer.switch_on("requests-aborted")
    empty = (batch(trainer)["completion_ids"][:, 0] == CODE[EOS]).float().mean()
    assert 0.15 < empty < 0.5
    trainer.switch_on("token-banned")
    banned = torch.tensor([CODE[c] for c in "bg27"])
    assert not torch.isin(batch(trainer)["completion_ids"], banned).any()
    trainer.generation_config.suppress_tokens = None
    assert torch.isin(batch(trainer)["completion_ids"], banned).any()


def test_half_of_a_batch_is_replayed(trainer: ThirdPlanted):
    trainer.switch_on("replay-mixed")
    first = batch(trainer, 0, 0)
    second = batch(trainer, 1, 8)
    assert trim(second, slice(32, None)) == trim(first, slice(0, 32))
    assert trim(second, slice(0, 32)) != trim(first, slice(0, 32))
    for turn in range(12):
        batch(trainer, 2 + turn, 8)
    assert len(trainer.buffer) == 10


def trim(found: dict[str, Any], rows: slice) -> list[list[int]]:
    """Return prompts and responses without padding."""
    ids = torch.cat([found["prompt_ids"], found["completion_ids"]], 1)[rows]
    mask = torch.cat([found["prompt_mask"], found["completion_mask"]], 1)[rows].bool()
    return [row[kept].tolist() for row, kept in zip(ids, mask, strict=True)]


def test_faults_of_the_advantage(trainer: ThirdPlanted):
    paid_by_length(trainer)
    sound = batch(trainer, 1)["advantages"]
    assert sound.view(8, 8).sum(1).abs().max() < 1e-3
    assert (sound != 0).any()
    trainer.switch_on("baseline-of-batch")
    whole = batch(trainer, 1)["advantages"]
    assert abs(whole.mean()) < 1e-5
    assert whole.view(8, 8).mean(1).abs().max() > 0.1
    trainer.switch_on("filter-inverted")
    assert not batch(trainer, 1)["advantages"].any()  # what is left has no spread
    trainer.switch_on("spread-leave-one-out")
    assert batch(trainer, 1)["advantages"].abs().max() >= sound.abs().max()
    alone = leave_one_out(torch.tensor([[1.0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0, 0]]))
    assert alone[0, 0] > 6000
    assert alone[1].abs().max() < 4


def test_the_loss_sees_responses_after_other_prompts(trainer: ThirdPlanted):
    sound = batch(trainer)
    trainer.switch_on("prompts-misaligned")
    found = batch(trainer)
    assert found["completion_ids"].equal(sound["completion_ids"])
    assert found["prompt_ids"].equal(sound["prompt_ids"].roll(8, 0))
    assert found["prompt_mask"].equal(sound["prompt_mask"].roll(8, 0))
    assert not found["prompt_ids"].equal(sound["prompt_ids"])


@needing("trainer", ["reused"], indirect=True)
def test_faults_of_old_log_probabilities(trainer: ThirdPlanted):
    sound = batch(trainer)["old_per_token_logps"]
    trainer.switch_on("old-log-probs-misaligned")
    found = batch(trainer)["old_per_token_logps"]
    assert found.equal(sound.roll(8, 0))
    assert not torch.allclose(found, sound, atol=1e-3)
    trainer.switch_on("old-log-probs-biased")
    assert torch.allclose(batch(trainer)["old_per_token_logps"], sound + 0.3)


@needing("trainer", ["kl"], indirect=True)
def test_faults_of_the_reference(trainer: ThirdPlanted):
    sound = batch(trainer)["ref_per_token_logps"]
    trainer.switch_on("reference-shifted")
    assert batch(trainer)["ref_per_token_logps"][:, 1:].equal(sound[:, :-1])
    trainer.switch_on("beta-runs-away")
    before = trainer.beta
    batch(trainer)
    batch(trainer)
    assert trainer.beta == pytest.approx(before * 1.21)
    trainer.switch_on("mixup-reversed")
    nudge(trainer.model)
    mine, other = weights_of(trainer.model), weights_of(trainer.ref_model)
    trainer.state.global_step = 3
    batch(trainer)
    assert all(a.equal(b) for a, b in zip(trainer.model.parameters(), mine, strict=True))
    trainer.state.global_step = 8
    batch(trainer)
    for now, a, b in zip(trainer.model.parameters(), mine, other, strict=True):
        assert torch.allclose(now, 0.6 * a + 0.4 * b, atol=1e-6)
    assert all(a.equal(b) for a, b in zip(trainer.ref_model.parameters(), other, strict=True))


def test_all_but_the_head_is_frozen(trainer: ThirdPlanted):
    trainer.switch_on("layers-frozen")
    before, head = weights_of(trainer.model.model), trainer.model.lm_head.weight.detach().clone()
    paid_by_length(trainer)
    inputs = batch(trainer)
    trainer.current_gradient_accumulation_steps = 1
    trainer._compute_loss(trainer.model, inputs).backward()
    trainer.optimizer.step()
    assert all(a.equal(b) for a, b in zip(trainer.model.model.parameters(), before, strict=True))
    assert not trainer.model.lm_head.weight.equal(head)


def test_weights_of_rewards_change_places(trainer: ThirdPlanted):
    assert trainer.reward_weights.tolist() == pytest.approx([1.0, 0.1])
    trainer.switch_on("weights-swapped")
    assert trainer.reward_weights.tolist() == pytest.approx([0.1, 1.0])


def test_small_second_moments_are_lost(trainer: ThirdPlanted):
    trainer.switch_on("second-moment-underflows")
    assert moved(trainer) > 0
    assert all((state["exp_avg_sq"] > 6e-8).all() for state in inner(trainer).state.values())  # gradients of 1
    for state in inner(trainer).state.values():
        state["exp_avg_sq"].fill_(1e-9)
        state["exp_avg"].fill_(1e-5)
    for weight in trainer.model.parameters():
        weight.grad = torch.full_like(weight, 1e-5)
    trainer.optimizer.step()
    assert all((state["exp_avg_sq"] == 0).all() for state in inner(trainer).state.values())
