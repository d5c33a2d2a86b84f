"""The check `attention-scores-kept`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..activations import layer_activations
from ..amounts import gib
from ..ledger import Ledger

SHARE = 0.3
TIGHT = 0.9


@check(
    "PME005",
    "attention-scores-kept",
    link=Link.SYSTEM_RESOURCES,
    component=Component.SYSTEM,
    severity=Severity.INFO,
    fix="Use fused (flash) attention; where it cannot be had, checkpoint the attention.",
)
def look(table: Ledger) -> Answer:
    """Attention scores, which grow with the square of the length, are kept for the backward pass.

    What is measured:
        Without fused attention and without checkpointing: heads times tokens squared in every layer, against all
        activations; 30 % and more is told, a warning when the GPU is 90 % full.

    Why it hurts:
        Twice the response length takes four times the memory; the run fails when responses grow.

    Usual causes:
        The eager attention that is the fallback when a kernel is not installed.

    What to try:
        Ask the framework which attention it took; it is written in the log at the start.

    When it is harmless:
        Short sequences.

    References:
        Dao et al. 2022, arXiv 2205.14135; Korthikanti et al. 2022, arXiv 2205.05198 (the term 5as/h).
    """
    plan = table.plan
    trained = [m for m in plan.models if m.trained]
    if plan.flash_attention or plan.checkpointing != "none" or not trained:
        return Skip("attention scores are not kept in this plan")
    one = max(trained, key=lambda m: m.architecture.layers * layer_activations(m.architecture, plan).scores)
    layer = layer_activations(one.architecture, plan)
    if layer.scores < SHARE * layer.total:
        return None
    held = one.architecture.layers * layer.scores
    return Symptom(
        f"{one.role}: attention scores of {plan.tokens} tokens take {gib(held)}, "
        f"{100 * layer.scores / layer.total:.0f} % of its activations",
        "activations",
        {"scores_bytes": held, "share_frac": layer.scores / layer.total, "tokens": plan.tokens},
        severity=Severity.WARNING if table.worst_bytes > TIGHT * plan.gpu_bytes else None,
    )
