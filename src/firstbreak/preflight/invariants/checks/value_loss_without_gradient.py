"""Value targets reach the critic: the value loss has a gradient."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..policy_rows import value_rows

LEAST_FRAC = 1e-3
"""Coefficients in use are 0.25 to 1; a thousandth of the gradient trains nothing within a run."""


@check(
    "INV070",
    "value-loss-without-gradient",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    fix="Give the value loss its coefficient and let the new value carry its gradient.",
)
@skips
def look(bench: Bench) -> Answer:
    """Value targets reach the critic: the value loss has a gradient.

    Measured: the change of the critic's gradient when targets move off the values, over that of mean((V -
    target)^2).

    Why it hurts: a critic that stays as it was is noise in every advantage.

    Usual causes: a coefficient of 0, the value detached or under no_grad, clipping around a fixed number.

    What to try: autograd.grad of the value term on the critic's last layer.

    Harmless: for algorithms without a critic.
    """
    found = bench.once(value_rows)
    share = found.fit.norm / max(found.expected_norm, 1e-30)
    if share > LEAST_FRAC:
        return None
    return Symptom(
        f"value targets change the critic's gradient by {share:.1e} of what they should: it does not learn",
        "update",
        {"gradient_frac": share},
    )
