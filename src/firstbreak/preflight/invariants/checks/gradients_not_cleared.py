"""Gradients are cleared before each update."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..optimising import two_updates

REST_FRAC = 0.05
"""A gradient that is still there makes it 1; a target actor that follows in between changes it by far less. Engineering
default."""


@check(
    "INV010",
    "gradients-not-cleared",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    fix="Call zero_grad on the optimiser just before backward.",
)
@skips
def look(bench: Bench) -> Answer:
    """Gradients are cleared before each update.

    Measured: the gradient of one update on one batch, made twice with weights and random numbers held; it must be
    the same.

    Why it hurts: gradients of all earlier minibatches add up: the direction is stale and the step grows without
    bound.

    Usual causes: zero_grad() missing, called on another optimiser, or called between backward and step.

    What to try: call zero_grad() just before backward().

    Harmless: deliberate gradient accumulation, when the update is one of several micro-batches.
    """
    found = bench.once(two_updates)
    if not found.first:
        return Skip("the update has no gradient on this batch", withholds=True)
    share = found.difference / found.first
    if share <= REST_FRAC:
        return None
    return Symptom(
        f"the same update made twice has a gradient {share:.1%} different: the first is still in it",
        "update",
        {"difference_frac": share},
    )
