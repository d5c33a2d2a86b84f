"""Each value is pulled to its own target, not to everybody's mean."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..policy_rows import value_rows


@check(
    "INV071",
    "value-loss-broadcasts",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    fix="Bring values and targets to the same shape [B].",
)
@skips
def look(bench: Bench) -> Answer:
    """Each value is pulled to its own target, not to everybody's mean.

    Measured: the weight of each row in the value gradient, with the targets in two orders; they must follow their
    rows.

    Why it hurts: the critic learns the mean target for every state.

    Usual causes: values of shape [B, 1] against targets of [B].

    What to try: squeeze the value once, where it is made; assert equal shapes.

    Harmless: never.
    """
    found = bench.once(value_rows)
    if found.fit.norm <= 1e-3 * found.expected_norm:
        zero = float(found.offset.mean().abs()) < 1e-6
        if not zero:
            return None
        return Skip("the value loss has no gradient")
    change = float((found.fit.weights - found.permuted.weights).norm() / found.fit.weights.norm())
    if change > 1e-2 or not found.fit.sure:
        return None
    return Symptom(
        f"targets in another order change the rows' weights by {change:.1e}: [B, 1] meets [B] in the value loss",
        "update",
        {"change_frac": change},
    )
