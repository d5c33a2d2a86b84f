"""The check `optimiser-unsharded`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..amounts import gib
from ..ledger import Ledger

SHARE = 0.25
TIGHT = 0.9


@check(
    "PME007",
    "optimiser-unsharded",
    link=Link.SYSTEM_RESOURCES,
    component=Component.OPTIMISER,
    severity=Severity.INFO,
    fix="Shard the optimiser states over the GPUs (ZeRO-1); it costs next to no time.",
)
def look(table: Ledger) -> Answer:
    """Every GPU keeps the whole optimiser state.

    What is measured:
        With two GPUs or more and no sharding: the optimiser's bytes against the GPU; a quarter and more is told, a
        warning when the GPU is 90 % full.

    Why it hurts:
        It is the same number on every GPU; the memory would take a larger micro-batch instead.

    Usual causes:
        Plain data parallelism, the default of most launchers.

    What to try:
        ZeRO-1 or the sharded optimiser of the framework.

    When it is harmless:
        When there is room.

    References:
        Rajbhandari et al. 2019, arXiv 1910.02054, section 5.1.
    """
    plan = table.plan
    if plan.ranks < 2 or plan.sharding != "none" or plan.offload_optimiser:
        return Skip("there is one GPU, or the optimiser is sharded")
    held = max(table.item("optimiser", p) for p in table.phases)
    if held < SHARE * plan.gpu_bytes:
        return None
    return Symptom(
        f"optimiser states take {gib(held)} on each of {plan.ranks} GPUs",
        "optimiser",
        {"optimiser_bytes": held, "ranks": plan.ranks, "saved_bytes": held - held // plan.ranks},
        severity=Severity.WARNING if table.worst_bytes > TIGHT * plan.gpu_bytes else None,
    )
