"""The asynchronous learner: staleness bounded, interrupted responses, weights, caps, and a sync that fails."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.trainers.language.async_grpo import AsyncGRPO, AsyncGRPOConfig, train
from firstbreak.trainers.language.model import fingerprint, token_scores
from firstbreak.trainers.language.policy_measures import behaviour_measures, mismatch_measures, staleness_measures

from .subjects import EASY, check_names, random_batch, warm_model, without_clocks

SMALL = AsyncGRPOConfig(prompts_per_update=3, num_generations=4, max_new_tokens=8, eval_every=0, tokens_per_update=3)


def build(seed: int = 0, **settings: Any) -> AsyncGRPO:
    return AsyncGRPO(seed=seed, config=replace(SMALL, **settings), puzzles=EASY, model=warm_model())


def run(trainer: AsyncGRPO, updates: int) -> list[dict[str, float]]:
    rows: list[dict[str, float]] = []
    trainer.learn(updates, log=lambda row, _: rows.append(row))
    return rows


@pytest.mark.parametrize("bound", [0, 1, 3])
@pytest.mark.parametrize("speed", [0, 4])
def test_no_token_is_older_than_the_bound(bound: int, speed: int) -> None:
    trainer = build(max_staleness=bound, tokens_per_update=speed)
    rows = run(trainer, 6)
    assert max(row["async/staleness_max"] for row in rows) <= bound
    if bound and speed:
        assert max(row["async/staleness_max"] for row in rows) == bound
    if bound == 0:
        assert {row["async/partial_span_mean"] for row in rows} == {1.0}
        assert max(abs(row["async/behave_ratio_mean"] - 1) for row in rows) < 1e-5
    for row in rows:
        check_names({name: value for name, value in row.items() if not name.startswith("time/")})


def test_an_interrupted_response_has_an_older_head_and_a_younger_tail() -> None:
    trainer = build(max_staleness=3, tokens_per_update=2)
    spans: list[tuple[int, int]] = []
    for _ in range(6):
        found = trainer.collect()
        spans += [(row.versions[0], row.versions[-1]) for row in found.rows]
        assert all(row.versions == sorted(row.versions) for row in found.rows)
        trainer.update(found)
    assert any(head < tail for head, tail in spans)


def test_each_token_is_of_the_weights_of_its_version() -> None:
    trainer = build(max_staleness=2, tokens_per_update=2, learning_rate=3e-3)
    weights = {0: warm_model()}
    for _ in range(4):
        found = trainer.collect()
        batch = found.batch()
        for version, model in weights.items():
            there = batch["loss_mask"] & (batch["version"] == version)
            scores = token_scores(model, batch["ids"], batch["attention"])[0].detach()
            assert torch.allclose(scores[there], batch["sampler_log_prob"][there], atol=1e-4)
        trainer.update(found)
        from copy import deepcopy

        weights[trainer.updates] = deepcopy(trainer.sampler)


def test_groups_are_trained_on_in_the_order_of_their_launch_and_once() -> None:
    trainer = build(max_staleness=2)
    order: list[int] = []
    for _ in range(5):
        found = trainer.collect()
        order += found.group_ids()
        assert trainer.update(found)["data/repeat_fraction"] == 0.0
    assert order == list(range(15))


def test_a_sync_copies_the_weights_and_the_version() -> None:
    trainer = build(sync_every=2)
    hashes = [(fingerprint(trainer.model), fingerprint(trainer.sampler), trainer.sampler_version)]
    for _ in range(4):
        trainer.update(trainer.collect())
        hashes.append((fingerprint(trainer.model), fingerprint(trainer.sampler), trainer.sampler_version))
    assert [sampler == trained for trained, sampler, _ in hashes] == [True, False, True, False, True]
    assert [version for *_, version in hashes] == [0, 0, 2, 2, 4]


def test_a_sync_that_fails_shows_as_a_mismatch_at_once_and_staleness_does_not() -> None:
    trainer = build(learning_rate=3e-3)
    before = run(trainer, 4)

    def only_stamped() -> None:
        trainer.sampler_version = trainer.updates

    trainer.sync_weights = only_stamped  # type: ignore[method-assign]
    after = run(trainer, 4)
    assert max(row["async/logprob_mismatch"] for row in before) < 1e-6
    assert min(row["async/logprob_mismatch"] for row in after) > 1e-3
    assert after[-1]["async/staleness_mean"] == pytest.approx(before[-1]["async/staleness_mean"], abs=1.0)


@pytest.mark.parametrize("mode", ["mask", "clamp"])
def test_the_decoupled_loss_is_its_equation_token_by_token(mode: str) -> None:
    trainer = build(behave_cap_mode=mode, behave_imp_weight_cap=1.5, loss_type="dapo")
    found = trainer.collect()
    batch = found.batch()
    draw = torch.Generator().manual_seed(0)
    batch["sampler_log_prob"] = batch["sampler_log_prob"] + 0.5 * torch.randn(batch["ids"].shape, generator=draw)
    batch = trainer.prepare(batch)
    trainer.model.load_state_dict({k: v * 1.05 for k, v in trainer.model.state_dict().items()})  # pi_theta has moved
    log_prob = trainer.log_prob(batch).detach()
    gains: list[float] = []
    for i, t in batch["own"].nonzero().tolist():
        prox = float(batch["old_log_prob"][i, t])
        weight = math.exp(prox - float(batch["sampler_log_prob"][i, t]))
        if weight > 1.5 and mode == "mask":
            continue
        ratio, a = math.exp(float(log_prob[i, t]) - prox), float(batch["advantage"][i])
        gains.append(min(weight, 1.5) * min(ratio * a, min(max(ratio, 0.8), 1.2) * a))
    assert len(gains) < int(batch["own"].sum()) or mode == "clamp"
    found_loss = float(trainer.loss(batch)["policy"].detach())
    assert found_loss == pytest.approx(-sum(gains) / len(gains), rel=1e-3, abs=1e-5)


def test_without_decoupling_the_ratio_is_that_to_the_sampler() -> None:
    trainer = build(use_decoupled_loss=False)
    batch = trainer.collect().batch()
    assert torch.equal(trainer.prepare(batch)["old_log_prob"], batch["sampler_log_prob"])
    check_names(trainer.update(trainer.collect()))


def test_an_infinite_weight_is_left_out_and_leaves_no_nan() -> None:
    trainer = build()
    batch = trainer.collect().batch()
    i, t = batch["loss_mask"].nonzero()[0].tolist()
    batch["sampler_log_prob"][i, t] = -200.0
    ready = trainer.prepare(batch)
    assert not ready["loss_mask"][i, t]
    assert int(ready["own"].sum()) - int(ready["loss_mask"].sum()) == 1
    trainer.loss(ready)["policy"].backward()
    assert all(bool(weight.grad.isfinite().all()) for weight in trainer.model.parameters() if weight.grad is not None)


def test_behaviour_weights_are_measured_before_the_cap() -> None:
    found = behaviour_measures(torch.tensor([0.0, math.log(2.0), math.log(10.0), math.log(0.5)]), 5.0)
    weights = [1.0, 2.0, 10.0, 0.5]
    assert found["async/behave_ratio_mean"] == pytest.approx(sum(weights) / 4)
    assert (found["async/behave_ratio_min"], found["async/behave_ratio_max"]) == pytest.approx((0.5, 10.0))
    assert found["async/behave_ratio_ess"] == pytest.approx(sum(weights) ** 2 / (4 * sum(w * w for w in weights)))
    assert found["async/behave_clip_fraction"] == found["async/behave_clip_fraction_high"] == 0.25


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000))
def test_staleness_is_counted_token_by_token(seed: int) -> None:
    batch = random_batch(seed)
    found = staleness_measures(batch["version"], batch["loss_mask"], 5)
    tables = batch["version"].tolist(), batch["loss_mask"].tolist()
    rows = [[5 - v for v, m in zip(*pair, strict=True) if m] for pair in zip(*tables, strict=True)]
    lags = [lag for row in rows for lag in row]
    assert found["async/staleness_mean"] == pytest.approx(sum(lags) / len(lags))
    assert (found["async/staleness_min"], found["async/staleness_max"]) == (min(lags), max(lags))
    spans = [max(row) - min(row) + 1 for row in rows]
    assert found["async/partial_span_mean"] == pytest.approx(sum(spans) / len(spans))
    assert found["async/stale_fraction"] == 1.0


def test_a_mismatch_is_measured_in_logs_and_in_probabilities() -> None:
    trainer, sampler = torch.tensor([-1.0, -2.0, -0.5]), torch.tensor([-1.1, -1.8, -0.5])
    found = mismatch_measures(trainer, sampler)
    assert found["async/logprob_mismatch"] == pytest.approx(0.1)
    assert found["async/logprob_mismatch_max"] == pytest.approx(0.2)
    gaps = [abs(math.exp(a) - math.exp(b)) for a, b in zip(trainer.tolist(), sampler.tolist(), strict=True)]
    assert found["async/prob_mismatch"] == pytest.approx(sum(gaps) / 3, rel=1e-4)
    assert 0.9 < found["async/prob_corr"] <= 1.0


def test_a_seed_fixes_the_run() -> None:
    def once(seed: int) -> list[dict[str, float]]:
        rows: list[dict[str, float]] = []
        train(updates=3, seed=seed, config=SMALL, puzzles=EASY, model=warm_model(), log=lambda row, _: rows.append(row))
        return [without_clocks(row) for row in rows]

    assert once(1) == once(1) != once(2)
