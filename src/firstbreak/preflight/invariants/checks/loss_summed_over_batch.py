"""The loss is a mean over the batch."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..batch_laws import laws
from ..bench import Bench, skips


@check(
    "INV063",
    "loss-summed-over-batch",
    link=Link.NUMERICS,
    component=Component.LOSS,
    severity=Severity.INFO,
    fix="Use the mean over rows, or keep the batch size fixed.",
)
@skips
def look(bench: Bench) -> Answer:
    """The loss is a mean over the batch.

    Measured: the scale by which the gradient grows when every row is there twice.

    Why it hurts: a sum ties the step to the batch size: clipping and learning rate must be tuned again with every
    change of it.

    Usual causes: sum() in place of mean(), or an expected value over actions summed over rows.

    What to try: use mean().

    Harmless: when the learning rate was chosen for it.
    """
    found = bench.once(laws)
    if found.twice < 1.5:
        return None
    return Symptom(
        f"every row twice makes the gradient {found.twice:.2f} times as large: the loss is a sum, not a mean",
        "update",
        {"scale": found.twice},
    )
