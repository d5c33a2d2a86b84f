"""Every published loss against a loop over tokens that spells its equation out, and what its normalisation implies."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.trainers.language.experience import Batch, rows_of
from firstbreak.trainers.language.grpo import GRPO, GRPOConfig
from firstbreak.trainers.language.losses import LOSS_TYPES, group_advantages, kl_terms, whole_of

from .subjects import EASY, random_batch, raw_model

MODEL = raw_model(3)
LONGEST = 9


def trainer(**settings: Any) -> GRPO:
    chosen = {"max_new_tokens": LONGEST, "epsilon": 0.2, "epsilon_high": 0.3, "eval_every": 0} | settings
    return GRPO(seed=0, config=GRPOConfig(**chosen), puzzles=EASY, model=MODEL)


def slow_log_probs(batch: Batch) -> list[list[tuple[float, float, float]]]:
    """Of each response its tokens in the loss: log-prob now, when sampled, and under the reference.

    Each row is scored alone and without padding.
    """
    rows: list[list[tuple[float, float, float]]] = []
    for i in range(len(batch["ids"])):
        there = batch["attention"][i].nonzero().flatten().tolist()
        ids = batch["ids"][i, there].unsqueeze(0)
        table = MODEL(ids, torch.ones_like(ids, dtype=torch.bool))[0].double().log_softmax(-1)
        rows.append(
            [
                (
                    float(table[place - 1, int(ids[0, place])].detach()),
                    float(batch["old_log_prob"][i, column]),
                    float(batch["ref_log_prob"][i, column]),
                )
                for place, column in enumerate(there)
                if batch["loss_mask"][i, column]
            ]
        )
    return rows


def slow_loss(batch: Batch, config: GRPOConfig) -> tuple[float, float]:
    """The policy loss and the KL term, one token after the other."""
    rows = slow_log_probs(batch)
    responses, tokens = sum(1 for row in rows if row), sum(len(row) for row in rows)
    high = config.epsilon if config.epsilon_high is None else config.epsilon_high
    policy = kl = 0.0
    for row, advantage in zip(rows, batch["advantage"].tolist(), strict=True):
        if not row:
            continue
        sequence = math.exp(sum(new - old for new, old, _ in row) / len(row))
        if config.loss_type in ("grpo", "gspo"):
            weight = 1 / (responses * len(row))
        elif config.loss_type == "dr_grpo":
            weight = 1 / (responses * LONGEST)
        else:
            weight = 1 / tokens
        for new, old, ref in row:
            ratio = sequence if config.loss_type == "gspo" else math.exp(new - old)
            if config.loss_type == "cispo":
                gain = min(ratio, 1 + high) * advantage * new
            else:
                gain = min(ratio * advantage, min(max(ratio, 1 - config.epsilon), 1 + high) * advantage)
                if config.dual_clip is not None and advantage < 0:
                    gain = max(gain, config.dual_clip * advantage)
            policy -= weight * gain
            gap = ref - new
            estimate = {"k1": -gap, "k2": gap**2 / 2, "k3": math.exp(gap) - gap - 1}[config.kl_estimator]
            kl += config.beta * weight * estimate
    return policy, kl


@pytest.mark.parametrize("loss_type", LOSS_TYPES)
@pytest.mark.parametrize(("dual", "estimator"), [(None, "k3"), (1.5, "k1"), (None, "k2")])
@settings(max_examples=2)
@given(seed=st.integers(0, 10_000))
def test_a_loss_is_its_equation_token_by_token(loss_type: str, dual: float | None, estimator: str, seed: int) -> None:
    subject = trainer(loss_type=loss_type, dual_clip=dual, kl_estimator=estimator, beta=0.1)
    batch = random_batch(seed)
    found = subject.loss(batch)
    policy, kl = slow_loss(batch, subject.config)
    assert float(found["policy"].detach()) == pytest.approx(policy, rel=1e-3, abs=1e-5)
    assert float(found["kl"].detach()) == pytest.approx(kl, rel=1e-3, abs=1e-5)


def gradient(subject: GRPO, batch: Batch) -> torch.Tensor:
    subject.model.zero_grad()
    torch.stack(list(subject.loss(batch).values())).sum().backward()
    return torch.cat([weight.grad.flatten() for weight in subject.model.parameters() if weight.grad is not None])


@pytest.mark.parametrize("loss_type", LOSS_TYPES)
def test_padding_side_width_and_order_of_the_rows_change_nothing(loss_type: str) -> None:
    subject = trainer(loss_type=loss_type, beta=0.1)
    left, right = (random_batch(5, left=side) for side in (True, False))
    same = gradient(subject, left)
    assert float(same.abs().max()) > 1e-3
    order = torch.randperm(len(left["ids"]), generator=torch.Generator().manual_seed(0))
    wider = {
        name: torch.cat([torch.zeros_like(table[:, :4]), table], 1) if table.dim() == 2 else table
        for name, table in left.items()
    }
    for other in (right, rows_of(left, order), wider):
        assert torch.allclose(gradient(subject, other), same, atol=1e-5)


@pytest.mark.parametrize("loss_type", LOSS_TYPES)
@pytest.mark.parametrize("parts", [2, 3, 4])
def test_gradient_accumulation_changes_nothing_but_bnpo(loss_type: str, parts: int) -> None:
    subject = trainer(loss_type=loss_type, beta=0.1)
    batch = random_batch(8, groups=3, copies=4)
    at_once = gradient(subject, batch)
    size = -(-12 // parts)
    starts = range(0, 12, size)
    whole = whole_of(batch["loss_mask"], LONGEST, len(starts))
    subject.model.zero_grad()
    for start in starts:
        terms = subject.loss(rows_of(batch, slice(start, start + size)), whole)
        torch.stack(list(terms.values())).sum().backward()
    added = torch.cat([weight.grad.flatten() for weight in subject.model.parameters() if weight.grad is not None])
    assert torch.allclose(added, at_once, atol=1e-5) == (loss_type != "bnpo")


@pytest.mark.parametrize("loss_type", LOSS_TYPES)
def test_tokens_outside_the_mask_have_no_part_in_the_loss(loss_type: str) -> None:
    subject = trainer(loss_type=loss_type, beta=0.1)
    batch = random_batch(11)
    before = gradient(subject, batch)
    outside = ~batch["loss_mask"]
    for name in ("old_log_prob", "ref_log_prob"):
        batch[name] = torch.where(outside, torch.full_like(batch[name], -200.0), batch[name])
    assert torch.equal(gradient(subject, batch), before)
    assert bool(before.isfinite().all())


@pytest.mark.parametrize("loss_type", LOSS_TYPES)
def test_nothing_in_the_mask_is_no_loss_and_no_nan(loss_type: str) -> None:
    subject = trainer(loss_type=loss_type, beta=0.1)
    batch = random_batch(2)
    batch["loss_mask"] = torch.zeros_like(batch["loss_mask"])
    assert float(gradient(subject, batch).abs().max()) == 0.0


def test_a_clipped_token_has_no_gradient_and_cispo_keeps_it() -> None:
    batch = random_batch(4)
    batch["old_log_prob"] = batch["old_log_prob"] - 10.0  # every ratio far above the range
    batch["advantage"] = torch.ones(len(batch["ids"]))
    assert float(gradient(trainer(loss_type="dapo"), batch).abs().max()) == 0.0
    assert float(gradient(trainer(loss_type="cispo"), batch).abs().max()) > 1e-3


def test_dual_clip_stops_the_gradient_of_a_bad_token_that_became_likely() -> None:
    batch = random_batch(4)
    batch["old_log_prob"] = batch["old_log_prob"] - 10.0
    batch["advantage"] = -torch.ones(len(batch["ids"]))
    assert float(gradient(trainer(loss_type="dapo"), batch).abs().max()) > 1.0
    assert float(gradient(trainer(loss_type="dapo", dual_clip=3.0), batch).abs().max()) == 0.0


def test_a_sample_mean_weighs_long_responses_less_than_a_token_mean() -> None:
    """The length bias of 1/|o| (Liu et al. 2025): of two wrong responses the longer is punished less a token."""
    mask = torch.tensor([[True] * 8, [True] * 2 + [False] * 6])
    log_prob = torch.zeros(2, 8, requires_grad=True)
    shares: dict[str, float] = {}
    for loss_type in ("grpo", "dr_grpo", "dapo"):
        from firstbreak.trainers.language.losses import averaged

        (slope,) = torch.autograd.grad(averaged(log_prob, mask, loss_type, whole_of(mask, 8)), log_prob)
        shares[loss_type] = float(slope[0, 0] / slope[1, 0])
    assert shares == {"grpo": 0.25, "dr_grpo": 1.0, "dapo": 1.0}


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), scale=st.sampled_from(["group", "batch", "none"]))
def test_advantages_add_up_to_nothing_in_each_group_and_are_the_slow_ones(seed: int, scale: Any) -> None:
    draw = torch.Generator().manual_seed(seed)
    group = torch.tensor([7, 7, 7, 2, 2, 2, 9, 9, 9])[torch.randperm(9, generator=draw)]
    reward = torch.randint(0, 3, (9,), generator=draw).float()
    found = group_advantages(reward, group, scale)
    for one in (2, 7, 9):
        members = [i for i in range(9) if int(group[i]) == one]
        rewards = [float(reward[i]) for i in members]
        mean = sum(rewards) / 3
        everybody = reward.tolist()
        all_mean = sum(everybody) / 9
        spread = {
            "group": math.sqrt(sum((r - mean) ** 2 for r in rewards) / 2) + 1e-4,
            "batch": math.sqrt(sum((r - all_mean) ** 2 for r in everybody) / 8) + 1e-4,
            "none": 1.0,
        }[scale]
        assert sum(float(found[i]) for i in members) == pytest.approx(0.0, abs=1e-5)
        assert [float(found[i]) for i in members] == pytest.approx([(r - mean) / spread for r in rewards], abs=1e-4)


def test_a_group_of_one_has_no_advantage() -> None:
    for scale in ("group", "batch", "none"):
        assert group_advantages(torch.tensor([3.0]), torch.tensor([4]), scale).tolist() == [0.0]


def test_estimators_of_the_kl_agree_in_expectation_on_the_policys_own_tokens() -> None:
    new, ref = (torch.randn(32, generator=torch.Generator().manual_seed(s)).mul(0.2).log_softmax(-1) for s in (0, 1))
    exact = float((new.exp() * (new - ref)).sum())
    means = {k: float((new.exp() * kl_terms(new, ref, k)).sum()) for k in ("k1", "k2", "k3")}
    assert means["k1"] == pytest.approx(exact, rel=1e-4)
    assert means["k3"] == pytest.approx(exact, rel=1e-4)
    assert means["k2"] == pytest.approx(exact, rel=0.2)


def test_k1_as_a_loss_has_no_expected_gradient_and_k2_that_of_the_kl() -> None:
    """Liu et al. 2025, arXiv 2510.01555."""
    logits = torch.randn(6, generator=torch.Generator().manual_seed(1)).double().requires_grad_()
    ref = torch.randn(6, generator=torch.Generator().manual_seed(2)).double().log_softmax(-1)
    new = logits.log_softmax(-1)
    (true,) = torch.autograd.grad((new.exp() * (new - ref)).sum(), logits, retain_graph=True)
    slopes = {}
    for kind in ("k1", "k2"):
        weighed = (new.detach().exp() * kl_terms(new, ref, kind)).sum()
        (slopes[kind],) = torch.autograd.grad(weighed, logits, retain_graph=True)
    assert float(slopes["k1"].abs().max()) < 1e-12
    assert torch.allclose(slopes["k2"], true)
