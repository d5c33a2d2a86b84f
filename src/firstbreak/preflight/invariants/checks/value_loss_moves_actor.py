"""The value loss moves no parameter that belongs to the actor alone."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..policy_rows import value_rows

LEAK_FRAC = 1e-4
"""Above rounding (1e-6), below any leak through a layer."""


@check(
    "INV073",
    "value-loss-moves-actor",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    fix="Detach the actor's features where the critic reads them.",
)
@skips
def look(bench: Bench) -> Answer:
    """The value loss moves no parameter that belongs to the actor alone.

    Measured: the gradient that value targets put on parameters that are in the actor and not in the critic.

    Why it hurts: the usually larger value gradient reshapes the policy at every step.

    Usual causes: features of the actor fed to the critic without detach.

    What to try: detach the features, or share the trunk openly: then list it in both actor and critic.

    Harmless: when the trunk is shared on purpose and the pieces do not say so.
    """
    found = bench.once(value_rows)
    if found.fit.norm <= 1e-3 * found.expected_norm or found.on_actor_frac <= LEAK_FRAC:
        return None
    return Symptom(
        f"the value loss has {found.on_actor_frac:.1%} of its gradient on parameters of the actor alone",
        "update",
        {"leak_frac": found.on_actor_frac},
    )
