"""The check `engine-leaves-no-room`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..amounts import gib
from ..ledger import ROLLOUT, Ledger


@check(
    "PME001",
    "engine-leaves-no-room",
    link=Link.SYSTEM_RESOURCES,
    component=Component.SYSTEM,
    severity=Severity.ERROR,
    fix="Lower the engine's gpu_memory_utilisation below what training leaves, or let it sleep during updates.",
)
def look(table: Ledger) -> Answer:
    """The generation engine's share of the GPU and what training keeps there do not fit together.

    What is measured:
        gpu_memory_utilisation times the GPU, plus weights, optimiser states and gradients that stay on it while the
        engine is awake, against the GPU; activations are left out.

    Why it hurts:
        The engine takes its share at the start, whether it is used or not; the first update runs out of memory, or the
        engine does not start.

    Usual causes:
        The default of 0.9 for an engine that has the GPU for itself, kept where it shares the GPU with a trainer.

    What to try:
        Sleep modes give the engine's memory back during updates; 0.3 to 0.5 is usual without.

    When it is harmless:
        When the trainer offloads its states while the engine runs, and the plan does not say so.

    References:
        vLLM, gpu_memory_utilization: a share of the whole GPU, taken for weights, activations and cache.
    """
    plan = table.plan
    if plan.rollout.engine != "colocated":
        return Skip("no engine shares the GPU")
    awake = [p for p in table.phases if p == ROLLOUT or not plan.rollout.sleeps]
    states = ("weights", "optimiser", "gradients", "gathered weights")
    needed = {
        p: sum(e.size_bytes for e in table.entries if p in e.phases and (e.model == "engine" or e.item in states))
        for p in awake
    }
    phase = max(needed, key=lambda p: needed[p])
    if needed[phase] <= plan.gpu_bytes:
        return None
    pool = sum(e.size_bytes for e in table.entries if e.model == "engine" and phase in e.phases)
    if needed[phase] - pool > plan.gpu_bytes:
        return Skip("training states alone do not fit, with or without an engine")
    return Symptom(
        f"engine {gib(pool)} and training states {gib(needed[phase] - pool)} in {phase}, on {gib(plan.gpu_bytes)}",
        "engine",
        {"engine_bytes": pool, "states_bytes": needed[phase] - pool, "gpu_bytes": plan.gpu_bytes},
    )
