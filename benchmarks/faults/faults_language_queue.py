"""Faults of sampling, of the queue between sampler and trainer, of versions, and of the machine."""

from __future__ import annotations

import time
from typing import Any

import torch

from benchmarks.faults.faults_language_reward import changed
from benchmarks.faults.planting import in_trainer

REPEATED, SLOW_TOKENS, LEVELS, STALL_EVERY, AHEAD, INFINITE_EVERY = 33, 4, 7, 20, 3, 20


@in_trainer("temperature-low", "grpo")
def temperature_low(trainer: Any) -> None:
    changed(trainer, temperature=0.1)


@in_trainer("temperature-x5", "grpo", "async_grpo")
def temperature_x5(trainer: Any) -> None:
    changed(trainer, temperature=5.0)


@in_trainer("batch-repeated", "grpo", "async_grpo")
def batch_repeated(trainer: Any) -> None:
    usual, kept, served = trainer.collect, [], [0]

    def collect() -> Any:
        if served[0] % REPEATED == 0:
            kept[:] = [usual()]
        served[0] += 1
        return kept[0]

    trainer.collect = collect


@in_trainer("sampler-frozen", "async_grpo")
def sampler_frozen(trainer: Any) -> None:
    trainer.sync_weights = lambda: None


@in_trainer("staleness-unbounded", "async_grpo")
def staleness_unbounded(trainer: Any) -> None:
    changed(trainer, max_staleness=24, sync_every=24)
    usual = trainer.gains

    def unweighted(log_prob: Any, batch: Any) -> Any:
        return usual(log_prob, {**batch, "weight": torch.ones_like(batch["weight"])})

    def all_kept(weight: Any) -> Any:
        return weight, torch.ones_like(weight, dtype=torch.bool)

    trainer.gains, trainer.capped = unweighted, all_kept


@in_trainer("slow-groups-dropped", "async_grpo")
def slow_groups_dropped(trainer: Any) -> None:
    usual = trainer.collect

    def collect() -> Any:
        found = usual()
        slow = {row.group for row in found.rows if row.length > SLOW_TOKENS}
        kept = found.only(torch.tensor([row.group not in slow for row in found.rows]))
        return kept if kept.rows else found  # an update of nothing is none

    trainer.collect = collect


@in_trainer("version-off-by-one", "async_grpo")
def version_off(trainer: Any) -> None:
    usual = trainer.mismatch

    def stamped(batch: Any) -> Any:
        return usual({**batch, "version": batch["version"] + AHEAD})

    trainer.mismatch = stamped


@in_trainer("mask-by-product", "async_grpo")
def mask_by_product(trainer: Any) -> None:
    calls = [0]

    def product(weight: Any) -> Any:
        calls[0] += 1
        weight = weight.clone()
        if calls[0] % INFINITE_EVERY == 0:
            weight[weight == weight.max()] = torch.inf
        keep = weight <= trainer.config.behave_imp_weight_cap
        return weight * keep, torch.ones_like(keep)  # infinity times 0

    trainer.capped = product


@in_trainer("sampler-rounded", "async_grpo")
def sampler_rounded(trainer: Any) -> None:
    usual = trainer.sync_weights

    @torch.no_grad()
    def rounded() -> None:
        usual()
        for weight in trainer.sampler.parameters():
            if weight.dim() > 1:
                step = weight.abs().max() / (LEVELS // 2)
                weight.copy_((weight / step).round() * step)

    trainer.sync_weights = rounded
    rounded()


@in_trainer("loader-stalls", "grpo")
def loader_stalls(trainer: Any) -> None:
    usual = trainer.collect

    def collect() -> Any:
        if trainer.updates % STALL_EVERY == 0:
            time.sleep(1.0)
        return usual()

    trainer.collect = collect
