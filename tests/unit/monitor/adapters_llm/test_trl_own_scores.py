"""Draws held against the policy that scores them, with a policy of which everything is known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from firstbreak.monitor.adapters.parts.trl.draws import Sum, bernstein
from firstbreak.monitor.adapters.parts.trl.own_scores import (
    CHOSEN,
    CHOSEN_SHIFT,
    END,
    EVALUATED,
    EXCESS,
    GAP,
    REFERENCE,
    REPEATS,
    UNLIKE,
    OwnScores,
    score,
)
from firstbreak.monitor.core import Monitor

VOCABULARY, PAD, EOS, K, ROWS, LONGEST = 12, 0, 1, 8, 32, 6


class Policy(torch.nn.Module):
    """The next token depends on the last one only."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self.table = torch.nn.Parameter(torch.randn(VOCABULARY, VOCABULARY, generator=torch.manual_seed(seed)))
        with torch.no_grad():
            self.table[:, PAD] = -30

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Any:
        return SimpleNamespace(logits=self.table[input_ids])


def drawn(policy: Policy, prompts: Tensor, forbid: int | None = None) -> Tensor:
    ids = prompts
    for place in range(LONGEST):
        logits = policy.table[ids[:, -1]].detach().clone()
        if forbid is not None and place < 3:
            logits[:, forbid] = -torch.inf
        ids = torch.cat([ids, torch.multinomial(logits.softmax(1), 1)], 1)
    out = ids[:, prompts.shape[1] :]
    after = (out == EOS).int().cumsum(1) - (out == EOS).int() > 0
    return out.masked_fill(after, PAD)


def batch(ids: Tensor, prompts: Tensor, **more: Tensor) -> dict[str, Tensor]:
    return {
        "prompt_ids": prompts, "prompt_mask": torch.ones_like(prompts), "completion_ids": ids,
        "completion_mask": (ids != PAD).long(), **more,
    }  # fmt: skip


def asked() -> Tensor:
    return torch.randint(2, VOCABULARY, (ROWS // K, 3)).repeat_interleave(K, 0)


def looks(policy: Policy, make: Any, count: int = 24, **more: Any) -> dict[str, float]:
    trainer = SimpleNamespace(
        model=policy, num_generations=K, temperature=1.0, use_vllm=False,
        generation_config=SimpleNamespace(do_sample=True, temperature=1.0),
        accelerator=SimpleNamespace(unwrap_model=lambda model: model, autocast=torch.no_grad), **more,
    )  # fmt: skip
    own = OwnScores(trainer, Monitor(framework="trl", algorithm="GRPO"))
    row: dict[str, float] = {}
    for _ in range(count):
        found = make()
        row |= own.look(found, PAD, EOS)
        ids = torch.cat([found["prompt_ids"], found["completion_ids"]], 1)
        logps = score(policy, ids, torch.ones_like(ids), LONGEST, 1.0, EOS).logps
        own.in_the_loss(logps, found, PAD)
        row |= own.row()
        own.stepped()
    return row


def test_own_draws_are_the_policys():
    torch.manual_seed(1)
    policy = Policy()
    row = looks(policy, lambda: (p := asked()) is not None and batch(drawn(policy, p), p))
    assert abs(row[UNLIKE]) < 4
    assert abs(row[END]) < 4
    assert abs(row[REPEATS]) < 4


def test_responses_that_are_left_out_since_they_were_cut_off_have_no_score_and_count_as_draws():
    torch.manual_seed(1)
    policy = Policy()

    def make() -> dict[str, Tensor]:
        prompts = asked()
        ids = drawn(policy, prompts)
        found = batch(ids, prompts)
        whole = (ids == EOS).any(1, keepdim=True)
        assert 0 < float(whole.float().mean()) < 1
        seen = torch.cat([prompts, ids], 1)
        theirs = score(policy, seen, torch.ones_like(seen), LONGEST, 1.0, EOS).logps
        return {**found, "completion_mask": found["completion_mask"] * whole, "old_per_token_logps": theirs * whole}

    row = looks(policy, make)
    assert row[GAP] == pytest.approx(0.0, abs=1e-5)
    assert abs(row[UNLIKE]) < 4
    assert abs(row[END]) < 4


def test_draws_of_another_policy_are_told():
    torch.manual_seed(1)
    row = looks(Policy(), lambda: (p := asked()) is not None and batch(drawn(Policy(5), p), p))
    assert abs(row[UNLIKE]) > 8


def test_a_least_length_shows_at_the_ends():
    torch.manual_seed(1)
    policy = Policy()
    with torch.no_grad():
        policy.table[:, EOS] += 2
    row = looks(policy, lambda: (p := asked()) is not None and batch(drawn(policy, p, forbid=EOS), p))
    assert row[END] < -6


def test_shared_seeds_make_groups_alike():
    torch.manual_seed(1)
    policy = Policy()

    def shared() -> dict[str, Tensor]:
        prompts = asked()
        ids = drawn(policy, prompts)
        return batch(ids[[i - i % K + i % 2 for i in range(ROWS)]], prompts)

    row = looks(policy, shared)
    assert row[EXCESS] > 0.2
    assert row[REPEATS] > 6


def test_scores_of_trainer_and_reference_are_held_against_their_models():
    torch.manual_seed(1)
    policy, reference = Policy(), Policy(3)

    def scored(shift: float) -> Any:
        def make() -> dict[str, Tensor]:
            prompts = asked()
            ids = drawn(policy, prompts)
            seen = torch.ones(ROWS, 3 + LONGEST, dtype=torch.long)
            both = [score(m, torch.cat([prompts, ids], 1), seen, LONGEST, 1.0, EOS).logps for m in (policy, reference)]
            return batch(ids, prompts, old_per_token_logps=both[0], ref_per_token_logps=both[1] + shift)

        return make

    row = looks(policy, scored(0.0), 2, ref_model=reference)
    assert row[GAP] == pytest.approx(0, abs=1e-6)
    assert row[REFERENCE] == pytest.approx(0, abs=1e-6)
    assert looks(policy, scored(0.7), 2, ref_model=reference)[REFERENCE] == pytest.approx(0.7, abs=1e-5)


def test_one_rare_token_is_no_proof():
    assert abs(bernstein([Sum(total=-9.0, variance=0.5, largest=9.0)])) < 3
    assert bernstein([Sum(100.0, 100.0, 1.0)]) == pytest.approx(8.66, abs=0.01)
    assert bernstein([]) == 0.0


def test_settings_that_explain_another_distribution_keep_it_quiet():
    torch.manual_seed(1)
    policy = Policy()
    found = looks(policy, lambda: (p := asked()) is not None and batch(drawn(Policy(5), p), p), 2, rollout_func=None)
    assert UNLIKE in found
    warm = OwnScores(
        SimpleNamespace(generation_config=SimpleNamespace(do_sample=True, temperature=0.5), temperature=1.0), Monitor()
    )
    assert warm._transformed()


def returned(policy: Policy, best_of: int, batches: int = 24, gap: float = 0.0) -> dict[str, float]:
    """What is said of an engine that returns the likeliest of so many draws."""
    args = SimpleNamespace(temperature=1.0, top_p=1.0)
    trainer = SimpleNamespace(
        model=policy, num_generations=K, temperature=1.0, use_vllm=True, args=args,
        accelerator=SimpleNamespace(unwrap_model=lambda model: model, autocast=torch.no_grad),
    )  # fmt: skip
    own, row = OwnScores(trainer, Monitor(framework="trl", algorithm="GRPO")), dict[str, float]()
    for _ in range(batches):
        prompts = asked()
        several = [batch(drawn(policy, prompts), prompts) for _ in range(best_of)]
        scores = []
        for one in several:
            ids = torch.cat([prompts, one["completion_ids"]], 1)
            found = score(policy, ids, torch.ones_like(ids), LONGEST, 1.0, EOS)
            scores.append((found, (found.logps * one["completion_mask"]).sum(1)))
        best = torch.stack([total for _, total in scores]).argmax(0)
        rows = range(ROWS)
        ids = torch.stack([several[int(best[i])]["completion_ids"][i] for i in rows])
        logps, entropies = (
            torch.stack([getattr(scores[int(best[i])][0], name)[i] for i in rows]) for name in ("logps", "entropy")
        )
        inputs = batch(ids, prompts, sampling_per_token_logps=logps + gap)
        own.look(inputs, PAD, EOS)
        own.in_the_loss(logps, inputs, PAD, entropies)
        row |= own.row()
        own.stepped()
    return row


def test_an_engine_that_returns_the_likeliest_agrees_on_each_token_and_is_told_by_their_sum():
    torch.manual_seed(1)
    policy = Policy()
    assert abs(returned(policy, 1)[CHOSEN]) < 4
    row = returned(policy, 3)
    assert row[CHOSEN] > 6
    assert row[CHOSEN_SHIFT] > 0.1


def test_an_engine_whose_log_probabilities_are_others_is_left_to_the_rules_on_that():
    torch.manual_seed(1)
    assert CHOSEN not in returned(Policy(), 3, 2, gap=0.3)


def test_an_evaluation_of_old_weights_shows_after_two_looks_whatever_came_before():
    torch.manual_seed(1)
    policy, old = Policy(), Policy(5)
    trainer = SimpleNamespace(
        model=policy, num_generations=K, temperature=1.0, use_vllm=False,
        generation_config=SimpleNamespace(do_sample=True, temperature=1.0),
        accelerator=SimpleNamespace(unwrap_model=lambda model: model, autocast=torch.no_grad),
    )  # fmt: skip
    own = OwnScores(trainer, Monitor(framework="trl", algorithm="GRPO"))

    def evaluated(weights: Policy) -> float:
        prompts = asked()
        return own.evaluated(batch(drawn(weights, prompts), prompts), PAD, EOS)[EVALUATED]

    assert max(abs(evaluated(policy)) for _ in range(8)) < 4.5
    assert max(abs(evaluated(old)) for _ in range(2)) > 5
