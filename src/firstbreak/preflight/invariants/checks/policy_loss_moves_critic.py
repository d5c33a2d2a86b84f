"""The policy loss moves no parameter that belongs to the critic alone."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..policy_rows import value_rows

LEAK_FRAC = 1e-4
"""Above rounding (1e-6), below any leak through a layer."""


@check(
    "INV074",
    "policy-loss-moves-critic",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Detach the advantage from the critic.",
)
@skips
def look(bench: Bench) -> Answer:
    """The policy loss moves no parameter that belongs to the critic alone.

    Measured: the gradient that advantages put on parameters that are in the critic and not in the actor.

    Why it hurts: the critic learns to please the policy instead of predicting the return.

    Usual causes: the advantage computed inside the loss from a value that is not detached.

    What to try: compute advantages under no_grad; detach them.

    Harmless: never.
    """
    found = bench.once(value_rows)
    if found.policy_norm == 0 or found.policy_on_critic_frac <= LEAK_FRAC:
        return None
    return Symptom(
        f"the policy loss has {found.policy_on_critic_frac:.1%} of its gradient on parameters of the critic alone",
        "update",
        {"leak_frac": found.policy_on_critic_frac},
    )
