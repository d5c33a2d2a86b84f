"""The check `logits-dominate`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..amounts import gib
from ..ledger import Ledger

SHARE = 0.3
TIGHT = 0.9
"""Above this share of the GPU the largest row is worth a warning."""


@check(
    "PME004",
    "logits-dominate",
    link=Link.SYSTEM_RESOURCES,
    component=Component.LOSS,
    severity=Severity.INFO,
    fix="Compute log-probs in chunks of tokens, or with a fused cross-entropy.",
)
def look(table: Ledger) -> Answer:
    """The logits are the largest thing in memory.

    What is measured:
        Micro-batch times tokens times vocabulary times 12 bytes (log-softmax and two gradients in 32 bits)
        against the rows of the same phase; 30 % and more is told, a warning when the GPU is 90 % full.

    Why it hurts:
        It is one short peak that decides the micro-batch: 8 sequences of 4096 tokens over 152,000 words are 60 GB.

    Usual causes:
        logits.float() over the whole batch; log_softmax of everything where one number a token is wanted.

    What to try:
        logsumexp and gather by chunks; a fused linear cross-entropy.

    When it is harmless:
        When there is room for them.

    References:
        Wijmans et al. 2024, arXiv 2411.09009 (cut cross-entropy).
    """
    shares = {p: table.item("logits", p) / max(1, table.total(p)) for p in table.phases}
    if not any(shares.values()):
        return Skip("no model of the plan gives logits")
    phase = max(shares, key=lambda p: shares[p])
    if shares[phase] < SHARE:
        return None
    held = table.item("logits", phase)
    return Symptom(
        f"logits are {gib(held)}, {100 * shares[phase]:.0f} % of {phase}",
        "logits",
        {"logits_bytes": held, "share_frac": shares[phase], "phase": phase},
        severity=Severity.WARNING if table.peak(phase) > TIGHT * table.plan.gpu_bytes else None,
    )
