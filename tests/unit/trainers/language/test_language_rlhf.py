"""RLHF-PPO: token-level GAE, whitening, the KL in the reward, value clipping, preferences, what is logged."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.trainers.language.advantages import masked_mean, token_gae, whitened
from firstbreak.trainers.language.experience import Batch, rows_of
from firstbreak.trainers.language.model import TinyLM, state_values
from firstbreak.trainers.language.reward_model import (
    RewardModel,
    pairwise_accuracy,
    preference_loss,
    preferences,
    train_reward_model,
)
from firstbreak.trainers.language.rlhf_ppo import RLHFPPO, RLHFPPOConfig
from firstbreak.trainers.language.sampling import Sampling
from firstbreak.trainers.language.tasks import FORM

from .subjects import EASY, check_names, random_batch, random_rows, warm_model, without_clocks

SMALL = RLHFPPOConfig(prompts_per_update=16, max_new_tokens=8, eval_every=0)


@cache
def small_reward_model() -> RewardModel:
    return train_reward_model(warm_model(), EASY, Sampling(max_new_tokens=8), pairs=512, epochs=8)


def build(seed: int = 0, reward_model: RewardModel | None = None, **settings: Any) -> RLHFPPO:
    """A trainer, with a reward model of random taste where none is given."""
    return RLHFPPO(
        seed=seed,
        config=replace(SMALL, **settings),
        puzzles=EASY,
        model=warm_model(),
        reward_model=reward_model or untaught(),
    )


@cache
def untaught() -> RewardModel:
    torch.manual_seed(0)
    model = RewardModel(warm_model())
    torch.nn.init.normal_(model.net.head.weight)
    return model


def tables(seed: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(seed)
    reward, value = torch.randn(2, 4, 9, generator=draw)
    mask = torch.rand(4, 9, generator=draw) < 0.6
    mask[:, 3] = True
    return reward, value, mask


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), gamma=st.floats(0.0, 1.0), lam=st.floats(0.0, 1.0))
def test_gae_over_tokens_is_the_slow_sum_of_temporal_differences(seed: int, gamma: float, lam: float) -> None:
    reward, value, mask = tables(seed)
    advantage, target = token_gae(reward, value, mask, gamma, lam)
    for i in range(4):
        places = [t for t in range(9) if mask[i, t]]
        steps = [(float(reward[i, t]), float(value[i, t])) for t in places]
        for n, place in enumerate(places):
            slow = 0.0
            for later in range(n, len(steps)):
                after = steps[later + 1][1] if later + 1 < len(steps) else 0.0
                slow += (gamma * lam) ** (later - n) * (steps[later][0] + gamma * after - steps[later][1])
            assert float(advantage[i, place]) == pytest.approx(slow, abs=1e-4)
            assert float(target[i, place]) == pytest.approx(slow + steps[n][1], abs=1e-4)
        assert float(advantage[i][~mask[i]].abs().sum()) == 0.0


def test_lambda_one_is_the_return_less_the_value() -> None:
    reward, value, mask = tables(1)
    advantage, target = token_gae(reward, value, mask, 1.0, 1.0)
    total = torch.where(mask, reward, 0.0).flip(1).cumsum(1).flip(1)
    assert torch.allclose(advantage[mask], (total - value)[mask], atol=1e-4)
    assert torch.allclose(target[mask], total[mask], atol=1e-4)


def test_whitening_looks_at_valid_tokens_alone() -> None:
    _, values, mask = tables(2)
    white = whitened(values, mask)
    assert abs(float(white[mask].mean())) < 1e-5
    assert float(white[mask].std(correction=0)) == pytest.approx(1.0, abs=1e-4)
    other = torch.where(mask, values, torch.full_like(values, 1e4))
    padded = torch.cat([torch.full((4, 3), -7.0), other], 1)
    wider = torch.cat([torch.zeros(4, 3, dtype=torch.bool), mask], 1)
    assert torch.allclose(whitened(padded, wider)[:, 3:], white, atol=1e-5)
    assert float(white[~mask].abs().sum()) == 0.0


def test_whitening_without_a_shift_keeps_the_mean() -> None:
    _, values, mask = tables(3)
    kept = whitened(values + 5, mask, shift=False)
    assert float(kept[mask].mean()) == pytest.approx(float((values + 5)[mask].mean()), rel=1e-4)
    assert float(kept[mask].std(correction=0)) == pytest.approx(1.0, abs=1e-4)


def test_each_token_pays_for_its_kl_and_the_last_gets_the_score() -> None:
    batch = random_batch(6)
    batch["reward"] = torch.arange(9.0)
    found = build(kl_coef=0.3).token_rewards(batch)
    for i in range(9):
        own = [t for t in range(found.shape[1]) if batch["own"][i, t]]
        for t in range(found.shape[1]):
            gap = float(batch["old_log_prob"][i, t] - batch["ref_log_prob"][i, t])
            slow = (-0.3 * gap if t in own else 0.0) + (float(i) if t == own[-1] else 0.0)
            assert float(found[i, t]) == pytest.approx(slow, abs=1e-5)


def ready(seed: int, trainer: RLHFPPO) -> Batch:
    batch = random_batch(seed)
    draw = torch.Generator().manual_seed(seed)
    shape = batch["ids"].shape
    return {
        **batch,
        "advantage": torch.randn(shape, generator=draw),
        "value": 0.3 * torch.randn(shape, generator=draw),
        "value_target": torch.randn(shape, generator=draw),
    }


def test_the_losses_are_the_equations_token_by_token() -> None:
    trainer = build(cliprange_value=0.1)
    trainer.model.head.weight.data.normal_(generator=torch.Generator().manual_seed(0))
    batch = ready(9, trainer)
    log_prob = trainer.log_prob(batch).detach()
    value = state_values(trainer.model, batch["ids"], batch["attention"]).detach()
    policy = error = 0.0
    places = batch["loss_mask"].nonzero().tolist()
    bound = 0
    for i, t in places:
        a, old = float(batch["advantage"][i, t]), float(batch["value"][i, t])
        ratio = math.exp(float(log_prob[i, t] - batch["old_log_prob"][i, t]))
        policy -= min(ratio * a, min(max(ratio, 0.8), 1.2) * a) / len(places)
        v, target = float(value[i, t]), float(batch["value_target"][i, t])
        held = min(max(v, old - 0.1), old + 0.1)
        bound += (held - target) ** 2 > (v - target) ** 2
        error += 0.1 * max((v - target) ** 2, (held - target) ** 2) / 2 / len(places)
    found = {name: float(term.detach()) for name, term in trainer.loss(batch).items()}
    assert 0 < bound < len(places)
    assert found == pytest.approx({"policy": policy, "value": error}, rel=1e-3)


def test_padding_side_and_order_change_no_loss() -> None:
    trainer = build()
    trainer.model.head.weight.data.normal_(generator=torch.Generator().manual_seed(0))
    batch = ready(9, trainer)
    order = torch.arange(9).flip(0)
    wide = {name: torch.cat([torch.zeros_like(t[:, :3]), t], 1) if t.dim() == 2 else t for name, t in batch.items()}
    losses = [{k: float(v.detach()) for k, v in trainer.loss(b).items()} for b in (batch, rows_of(batch, order), wide)]
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)
    assert losses[2] == pytest.approx(losses[0], rel=1e-4)


def test_masked_means_of_nothing_are_nothing() -> None:
    assert float(masked_mean(torch.ones(2, 3), torch.zeros(2, 3, dtype=torch.bool))) == 0.0


def test_the_preference_loss_is_the_log_likelihood_of_bradley_and_terry() -> None:
    chosen, rejected = torch.tensor([1.0, -2.0]), torch.tensor([0.0, 0.5])
    slow = [-math.log(math.exp(a) / (math.exp(a) + math.exp(b))) for a, b in [(1.0, 0.0), (-2.0, 0.5)]]
    assert float(preference_loss(chosen, rejected)) == pytest.approx(sum(slow) / 2, rel=1e-5)


def test_preferences_choose_right_over_wrong_and_an_answer_over_none() -> None:
    pairs = preferences(warm_model(), EASY, Sampling(max_new_tokens=8), count=60, seed=1)
    assert len(pairs) == 60
    for chosen, rejected in pairs:
        assert chosen.prompt == rejected.prompt
        assert chosen.tokens != rejected.tokens
        assert chosen.ended
        assert FORM.fullmatch(chosen.text)


def test_a_reward_model_learns_preferences_and_is_standardised_on_the_policy() -> None:
    model = small_reward_model()
    pairs = preferences(warm_model(), EASY, Sampling(max_new_tokens=8), count=300, seed=7)
    assert pairwise_accuracy(model, pairs) > 0.6  # 300 pairs: three standard errors above chance
    assert pairwise_accuracy(RewardModel(warm_model()), pairs) == 0.0  # a head of zeros prefers nothing
    scores = torch.cat([build(seed, model, prompts_per_update=64).collect().reward for seed in range(3)])
    assert abs(float(scores.mean())) < 0.4
    assert 0.6 < float(scores.std()) < 1.4


def test_scores_are_read_at_the_last_token_whatever_the_padding() -> None:
    rows = random_rows(3)
    together = untaught()(rows).detach()
    alone = torch.cat([untaught()([row]).detach() for row in rows])
    assert torch.allclose(together, alone, atol=1e-4)


def test_a_response_without_eos_is_fined() -> None:
    trainer = build(max_new_tokens=3, missing_eos_penalty=5.0)
    found = trainer.collect()
    cut = torch.tensor([row.stopped for row in found.rows])
    assert bool(cut.any())
    fined = untaught()(found.rows).detach() - found.reward
    assert torch.allclose(fined, 5.0 * cut.float(), atol=1e-5)


def test_before_the_first_step_ratio_kl_and_values_are_as_they_must_be() -> None:
    trainer = build()
    found = trainer.collect()
    metrics = trainer.update(found)
    assert metrics["policy/ratio_first_minibatch"] == pytest.approx(1.0, abs=1e-6)
    assert metrics["policy/kl_ref"] == 0.0
    assert metrics["critic/value_mean"] == 0.0
    assert metrics["reward/final_mean"] == pytest.approx(float(found.reward.mean()), abs=1e-6)
    assert metrics["advantage/normalised_mean"] == pytest.approx(0.0, abs=1e-5)
    assert metrics["advantage/normalised_std"] == pytest.approx(1.0, abs=1e-3)
    check_names(metrics)
    later = trainer.update(trainer.collect())
    assert later["policy/kl_ref"] > 0
    assert later["critic/value_mean"] != 0.0
    check_names(later)


def test_the_critic_learns_a_constant_score() -> None:
    trainer = build(kl_coef=0.0, learning_rate=3e-3, vf_coef=1.0, num_ppo_epochs=4)
    trainer.scores = lambda rows: torch.full((len(rows),), 0.5)  # type: ignore[method-assign]
    values = [trainer.update(trainer.collect())["critic/value_mean"] for _ in range(8)]
    assert values[0] == 0.0
    assert values[-1] == pytest.approx(0.5, abs=0.1)


def test_the_kl_penalty_pulls_back() -> None:
    """With nothing to earn, a policy that has left the reference comes closer to it again."""
    trainer = build(kl_coef=1.0, prompts_per_update=32)
    trainer.scores = lambda rows: torch.zeros(len(rows))  # type: ignore[method-assign]
    for weight in trainer.model.parameters():
        weight.data.add_(0.02 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(0)))
    far = [trainer.update(trainer.collect())["policy/kl_ref_seq"] for _ in range(12)]
    assert sum(far[-3:]) < 0.6 * sum(far[:3])


def test_a_seed_fixes_the_run() -> None:
    def run(seed: int) -> tuple[list[dict[str, float]], TinyLM]:
        rows: list[dict[str, float]] = []
        trainer = build(seed)
        trainer.learn(2, log=lambda row, _: rows.append(without_clocks(row)))
        return rows, trainer.model

    (rows, one), (again, same), (other_rows, _) = run(1), run(1), run(2)
    assert rows == again != other_rows
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), same.parameters(), strict=True))
