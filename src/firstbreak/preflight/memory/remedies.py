"""What to change first: changes of the plan, each tried on the ledger, by bytes saved for what they cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from .ledger import ledger
from .plan import OPTIMISERS, Plan

Change = Callable[[Plan], Plan | None]

FLOOR = 0.01
"""A change that costs nothing is weighed as if it cost this share of the time."""


@dataclass(frozen=True)
class Remedy:
    """One change: what it saves at the worst phase, what it costs as a share of the time, whether the plan then fits.

    `alters` is true where training itself changes (other lengths, adapters, rounding), which comes after what does not.
    """

    name: str
    saves_bytes: int
    cost_frac: float
    peak_bytes: int
    fits: bool
    alters: bool


def remedies(plan: Plan) -> list[Remedy]:
    """Return the changes that save something: first those that leave training as it is, most saved for least cost."""
    before = ledger(plan).worst_bytes
    found: list[Remedy] = []
    for name, cost, alters, change in _changes():
        changed = change(plan)
        if changed is None:
            continue
        after = ledger(changed).worst_bytes
        if before - after >= 0.01 * before:
            found.append(Remedy(name, before - after, cost, after, after <= plan.gpu_bytes, alters))
    return sorted(found, key=lambda r: (r.alters, -r.saves_bytes / (r.cost_frac + FLOOR)))


def _changes() -> Iterator[tuple[str, float, bool, Change]]:
    """Yield name, cost as a share of the time, whether it alters training, and the change.

    Costs: full recomputation a third of the forward and backward pass (Korthikanti et al. 2022, arXiv 2205.05198,
    section 5, measured 30 to 40 %), selective 4 % (ibid.); ZeRO-3 half as much communication again (arXiv 1910.02054,
    section 7); the rest engineering estimates, used for the order only.
    """
    yield "use fused (flash) attention", 0.0, False, _flash
    yield "let the engine sleep during updates", 0.03, False, _sleep
    yield "take the logits in chunks of 1024 tokens", 0.02, False, _chunk
    yield "shard the optimiser (ZeRO-1)", 0.02, False, _shard("zero1")
    yield "shard optimiser and gradients (ZeRO-2)", 0.03, False, _shard("zero2")
    yield "recompute attention scores (selective checkpointing)", 0.04, False, _checkpoint("selective")
    yield "offload the frozen models between their passes", 0.05, False, _offload_frozen
    yield "halve the micro-batch, double the accumulation", 0.1, False, _halve
    yield "shard everything (ZeRO-3, FSDP)", 0.15, False, _shard("fsdp")
    yield "recompute each layer (full checkpointing)", 0.33, False, _checkpoint("full")
    yield "keep the optimiser in host memory", 0.5, False, _offload_optimiser
    yield "keep the optimiser in 8 bits", 0.02, True, _eight_bit
    yield "lower the engine's share of the GPU by a quarter", 0.1, True, _smaller_engine
    yield "train adapters (LoRA of rank 16) instead of all weights", 0.05, True, _lora
    yield "halve the response length", 0.0, True, _shorter


def _flash(plan: Plan) -> Plan | None:
    return None if plan.flash_attention else replace(plan, flash_attention=True)


def _sleep(plan: Plan) -> Plan | None:
    if plan.rollout.engine != "colocated" or plan.rollout.sleeps:
        return None
    return replace(plan, rollout=replace(plan.rollout, sleeps=True))


def _chunk(plan: Plan) -> Plan | None:
    smaller = not plan.logits_chunk_tokens or plan.logits_chunk_tokens > 1024
    return replace(plan, logits_chunk_tokens=1024) if smaller else None


def _shard(kind: str) -> Change:
    order = {"none": 0, "zero1": 1, "zero2": 2, "zero3": 3, "fsdp": 3}

    def change(plan: Plan) -> Plan | None:
        if plan.ranks < 2 or order[plan.sharding] >= order[kind]:
            return None
        return replace(plan, sharding=kind)

    return change


def _checkpoint(kind: str) -> Change:
    def change(plan: Plan) -> Plan | None:
        if plan.checkpointing in ("full", kind) or (kind == "selective" and plan.flash_attention):
            return None
        return replace(plan, checkpointing=kind)

    return change


def _offload_frozen(plan: Plan) -> Plan | None:
    if all(m.trained or m.offloaded or m.shares for m in plan.models):
        return None
    return replace(plan, models=tuple(m if m.trained else replace(m, offloaded=True) for m in plan.models))


def _halve(plan: Plan) -> Plan | None:
    return replace(plan, micro_batch=plan.micro_batch // 2) if plan.micro_batch > 1 else None


def _offload_optimiser(plan: Plan) -> Plan | None:
    return None if plan.offload_optimiser else replace(plan, offload_optimiser=True)


def _eight_bit(plan: Plan) -> Plan | None:
    fitting = plan.optimiser in ("adam", "adamw") and not OPTIMISERS[plan.optimiser][1]
    return replace(plan, optimiser="adamw8bit") if fitting else None


def _smaller_engine(plan: Plan) -> Plan | None:
    if plan.rollout.engine != "colocated":
        return None
    less = 0.75 * plan.rollout.gpu_memory_utilisation
    return replace(plan, rollout=replace(plan.rollout, gpu_memory_utilisation=less))


def _lora(plan: Plan) -> Plan | None:
    if not any(m.trained and not m.lora_rank and not m.shares for m in plan.models):
        return None
    models = tuple(replace(m, lora_rank=16) if m.trained and not m.shares else m for m in plan.models)
    return replace(plan, models=models)


def _shorter(plan: Plan) -> Plan | None:
    return replace(plan, response_tokens=plan.response_tokens // 2) if plan.response_tokens >= 128 else None
