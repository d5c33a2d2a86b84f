"""Rows do not get their own advantage: all get the same one."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import TokenBench, skips
from ..terms import shifted
from ..weights import dead, weights


@check(
    "TOK061",
    "rows-share-one-advantage",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Give advantages and log-probs the same shape before multiplying: [B, 1] with [B, L].",
)
@skips
def look(bench: TokenBench) -> Answer:
    """Rows do not get their own advantage: all get the same one.

    Measured: the spread over rows of the weight that different advantages give them.

    Why it hurts: the mean of the advantages of a batch is 0, so nothing is learnt.

    Usual causes: shapes [B] and [B, 1] that broadcast to [B, B]; a mean over rows before the product.

    What to try: assert that ratio and advantage have equal shapes.

    Harmless: never.
    """
    found, one_sided = bench.once(weights), bench.once(shifted)
    if dead(one_sided):
        return Skip("the advantages pull at no token")
    if not dead(found) and found.total > 0.05 * one_sided.total:
        return None
    return Symptom(
        f"advantages of mean 0 pull at nothing, advantages of mean 0.5 pull with {one_sided.total:.2g}",
        "loss",
        {"gradient_mean_zero": found.total, "gradient_mean_half": one_sided.total},
    )
