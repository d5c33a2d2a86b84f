"""Bytes of weights, gradients and optimiser states of one model on one GPU (ZeRO, arXiv 1910.02054, section 5)."""

from __future__ import annotations

from dataclasses import dataclass

from .plan import OPTIMISERS, Model, Plan

EIGHT_BIT = 1.02
"""Bytes of one 8-bit state with the scales of its blocks (Dettmers et al. 2021, arXiv 2110.02861)."""
PREFETCHED = 2
"""Layers that are gathered at a time under ZeRO-3 and FSDP: the current one and the next."""


@dataclass(frozen=True)
class States:
    """Bytes on one GPU. `gathered` is what sharded weights take while they are whole; `cast` autocast's copies."""

    weights: int
    gradients: int
    optimiser: int
    gathered: int = 0
    cast: int = 0


def shards(plan: Plan) -> tuple[int, int, int]:
    """Return over how many GPUs weights, gradients and optimiser states are spread."""
    n = max(1, plan.ranks)
    return {
        "none": (1, 1, 1), "zero1": (1, 1, n), "zero2": (1, n, n), "zero3": (n, n, n), "fsdp": (n, n, n),
    }[plan.sharding]  # fmt: skip


def weight_bytes(model: Model, plan: Plan) -> float:
    """Return the bytes of one parameter of the model's own weights."""
    if model.bits and (not model.trained or model.lora_rank):
        # NF4 keeps a scale for 64 weights, itself quantised: 0.13 bits a weight (Dettmers 2023, arXiv 2305.14314).
        return model.bits / 8 + (0.016 if model.bits < 8 else 0.0)
    frozen_base = not model.trained or bool(model.lora_rank)
    return plan.bytes_of.compute if frozen_base and plan.precision != "fp32" else plan.bytes_of.weight


def state_bytes(plan: Plan) -> float:
    """Return the bytes of optimiser state of one trained parameter, its master copy included."""
    numbers, eight = OPTIMISERS[plan.optimiser]
    own = numbers * (EIGHT_BIT if eight else plan.bytes_of.state)
    return own + plan.bytes_of.master + (0.04 if plan.optimiser == "adafactor" else 0.0)


def states_of(model: Model, plan: Plan) -> States:
    """Return what one model keeps on one GPU."""
    parts, t = shards(plan), max(1, plan.tensor_parallel)
    per = plan.bytes_of
    own, adapters = model.count / t, (model.adapter_count / t if model.trained else 0.0)
    each = weight_bytes(model, plan)
    whole = own * each + adapters * per.weight
    trained = model.trainable / t
    gathered = 0.0
    if parts[0] > 1 and not model.shares:
        gathered = PREFETCHED * model.architecture.layer_parameters / t * each
    cast = own * per.cast if model.trained and not model.lora_rank else 0.0
    return States(
        weights=round(whole / parts[0]),
        gradients=round(trained * per.gradient / parts[1]),
        optimiser=0 if plan.offload_optimiser else round(trained * state_bytes(plan) / parts[2]),
        gathered=round(gathered),
        cast=round(cast),
    )
