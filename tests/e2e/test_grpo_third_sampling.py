"""Each fault of the third list in the sampler and in evaluation does what it says, in TRL's own trainer."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmarks.grpo.campaign import THIRD
from benchmarks.grpo.recording import Plan, record
from benchmarks.grpo.tasks import CODE, EOS
from benchmarks.grpo.third_planting import ThirdPlanted
from benchmarks.grpo.third_sampling import likeliest
from tests.e2e.planted_trainers import batch, begun_models, gap, nudge, planted_trainer, rows_of

pytestmark = [
    pytest.mark.full,
    pytest.mark.filterwarnings(
        "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning", "ignore::ResourceWarning"
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return begun_models(THIRD, "rotate", tmp_path_factory.mktemp("models"))


@pytest.fixture
def sampling(folder: Path, tmp_path: Path) -> ThirdPlanted:
    return planted_trainer(THIRD, "rotate", folder, tmp_path, "sampler")


@pytest.fixture
def evaluating(folder: Path, tmp_path: Path) -> ThirdPlanted:
    return planted_trainer(THIRD, "rotate", folder, tmp_path, "evaluated")


def apart(trainer: ThirdPlanted) -> torch.Tensor:
    """Return how far log-probabilities of sampler and trainer are apart, of a batch drawn anew, [rows, T]."""
    trainer._last_loaded_step = -1
    found = batch(trainer)
    return (found["old_per_token_logps"] - found["sampling_per_token_logps"]).abs() * found["completion_mask"]


def test_first_tokens_are_drawn_by_old_weights(sampling: ThirdPlanted):
    sampling.switch_on("prefix-cache-stale")
    assert apart(sampling).max() < 0.3  # nothing has changed as yet
    nudge(sampling.model)
    found = apart(sampling)
    assert found[:, 0].mean() > 0.3
    assert found[:, 1:].max() < 0.3
    replies = sampling.sampler.generate([[CODE["a"], CODE[">"]]] * 64)[1]
    assert max(map(len, replies)) == sampling.generation_config.max_new_tokens
    assert all(CODE[EOS] not in ids[:-1] for ids in replies)


def test_the_likeliest_of_three_is_returned(sampling: ThirdPlanted):
    one = (None, [[1], [2, 3]], [[[-1.0]], [[-1.0], [-2.0]]], None)
    other = (None, [[4], [5]], [[[-2.0]], [[-0.5]]], None)
    assert likeliest([one, other])[1:3] == ([[1], [5]], [[[-1.0]], [[-0.5]]])

    def mean(fault: str) -> float:
        sampling.switch_on(fault)
        torch.manual_seed(0)
        logps = sampling.sampler.generate([[CODE["a"], CODE[">"]]] * 64)[2]
        return sum(value[0] for row in logps for value in row) / 64

    assert mean("") < mean("best-of-returned") - 0.5


def test_a_hand_over_scales_the_trainers_own_weights(sampling: ThirdPlanted):
    layers = sampling.model.model.layers
    before = [layer.mlp.up_proj.weight.detach().clone() for layer in layers]
    gate = layers[0].mlp.gate_proj.weight.detach().clone()
    sampling.switch_on("sync-scales-trainer")
    sampling.sampler.sync_weights()
    for layer, weight in zip(layers, before, strict=True):
        assert torch.allclose(layer.mlp.up_proj.weight, 1.03 * weight)
    assert layers[0].mlp.gate_proj.weight.equal(gate)


def test_another_epsilon_sets_sampler_and_trainer_apart(sampling: ThirdPlanted):
    assert gap(sampling) < 0.02
    sampling.switch_on("norm-epsilon")
    assert gap(sampling) > 0.02


def replies_of(trainer: ThirdPlanted, training: bool) -> list[list[int]]:
    torch.manual_seed(0)
    trainer.model.train(training)
    found = trainer._generate_and_score_completions(rows_of(trainer))
    trainer.model.train()
    return found["completion_ids"].tolist()


def test_evaluation_alone_is_of_old_weights(evaluating: ThirdPlanted):
    old = replies_of(evaluating, training=False)
    evaluating.switch_on("eval-of-old-weights")
    nudge(evaluating.model)
    mine = [weight.detach().clone() for weight in evaluating.model.parameters()]
    assert replies_of(evaluating, training=False) == old
    assert replies_of(evaluating, training=True) != old
    assert all(a.equal(b) for a, b in zip(evaluating.model.parameters(), mine, strict=True))


def test_evaluation_asks_what_is_trained_on(evaluating: ThirdPlanted):
    trained = {row["prompt"] for row in evaluating.train_dataset}
    before = len(evaluating.eval_dataset)
    asked: list[str] = []
    usual = evaluating._tokenize_prompts
    evaluating._tokenize_prompts = lambda prompts: asked.extend(prompts) or usual(prompts)
    evaluating.evaluate()
    assert asked
    assert not set(asked) & trained
    asked.clear()
    evaluating.switch_on("eval-on-train")
    evaluating.evaluate()
    assert len(evaluating.eval_dataset) == before
    assert asked
    assert set(asked) <= trained


def test_evaluation_alone_is_lenient(evaluating: ThirdPlanted):
    evaluating.switch_on("eval-lenient")
    heard: list[bool] = []
    usual = evaluating.verifier.score
    evaluating.verifier.score = lambda *given: heard.append(evaluating.verifier.evaluating) or usual(*given)
    replies_of(evaluating, training=False)
    assert all(heard)
    heard.clear()
    replies_of(evaluating, training=True)
    assert heard
    assert not any(heard)


@pytest.mark.parametrize("needs", ["kl", "reused", "sampler", "evaluated"])
def test_a_run_is_recorded_to_its_end(folder: Path, needs: str):
    plan = Plan("x", "rotate", "healthy", 0, needs=needs, updates=8, weights=(1.0, 0.1, 0.05), few=16)
    found = record(plan, folder, THIRD)
    assert (found["died"], found["end_step"]) == ("", 8)
    assert "rewards/tone/mean" in found["keys"]
    assert ("eval_reward" in found["keys"]) == (needs == "evaluated")
