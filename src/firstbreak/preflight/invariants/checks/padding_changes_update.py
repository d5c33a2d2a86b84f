"""Rows that are masked out change nothing."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..batch_laws import laws
from ..bench import Bench, skips


@check(
    "INV061",
    "padding-changes-update",
    link=Link.NUMERICS,
    component=Component.LOSS_MASK,
    severity=Severity.ERROR,
    fix="Apply the mask to every term and divide by the number of valid rows.",
)
@skips
def look(bench: Bench) -> Answer:
    """Rows that are masked out change nothing.

    Measured: the gradient with and without masked rows of nonsense appended: its direction and its scale.

    Why it hurts: the loss depends on how much padding a batch happens to hold, or padding trains the critic.

    Usual causes: divided by all rows instead of the valid ones, the mask applied to one loss only, normalised over
    padding.

    What to try: (loss * mask).sum() / mask.sum(), for every term.

    Harmless: with a constant denominator on purpose (Dr. GRPO).
    """
    found = bench.once(laws)
    if found.padded_scale is None or found.padded_leak is None:
        return Skip("minibatches have no mask")
    if found.padded_leak > found.tolerance:
        return Symptom(
            f"masked rows change the direction of the gradient by {found.padded_leak:.0%}",
            "mask",
            {"leak_frac": found.padded_leak, "scale": found.padded_scale},
            link=Link.ENVIRONMENT_DATA,
        )
    if abs(found.padded_scale - 1.0) > found.tolerance:
        return Symptom(
            f"half as many masked rows scale the gradient by {found.padded_scale:.2f}: they count in the denominator",
            "mask",
            {"scale": found.padded_scale},
        )
    return None
