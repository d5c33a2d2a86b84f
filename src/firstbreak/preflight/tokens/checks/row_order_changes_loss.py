"""The gradient on a row depends on its place in the batch."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import TokenBench, skips
from ..noise import gradients_of_two_seeds
from ..variants import CLOSE_FRAC, order_effect


@check(
    "TOK082",
    "row-order-changes-loss",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Keep all columns of a row together; let nothing in the loss depend on its place.",
)
@skips
def look(bench: TokenBench) -> Answer:
    """The gradient on a row depends on its place in the batch.

    Measured: the gradient on each row, before and after the rows change places.

    Why it hurts: columns of different rows are mixed.

    Usual causes: a column that is shuffled alone or kept from an earlier batch; groups taken by place inside
    the loss.

    What to try: reverse a batch: the loss must be the same.

    Harmless: when rows are packed and cut at fixed places.
    """
    change = bench.once(order_effect)
    if change <= CLOSE_FRAC or bench.once(gradients_of_two_seeds) > CLOSE_FRAC:
        return None
    return Symptom(
        f"the gradient on the rows changes by {change:.1%} when they change places", "loss", {"change_frac": change}
    )
