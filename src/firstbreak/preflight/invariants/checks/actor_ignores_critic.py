"""The actor's gradient passes through the sampled action into the critic."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..soft import actor_pull

LEAST_FRAC = 1e-3
"""With a Q of slope 100 the change is twice the gradient where it passes, and 0 where it does not."""


@check(
    "INV094",
    "actor-ignores-critic",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Draw the action with rsample and do not detach it.",
    explained_by=("parameter-not-in-optimiser",),
)
@skips
def look(bench: Bench) -> Answer:
    """The actor's gradient passes through the sampled action into the critic.

    Measured: the change of the actor's gradient when a made-up Q that grows along all actions is replaced by one
    that falls.

    Why it hurts: the actor follows the entropy term alone: it becomes as random as it can.

    Usual causes: sample() in place of rsample(), the action detached, the critic called under no_grad.

    What to try: use rsample(); switch requires_grad of the critic off instead of using no_grad.

    Harmless: for likelihood-ratio actors on purpose.

    References: Haarnoja et al. 2018, arXiv 1812.05905.
    """
    found = bench.once(actor_pull)
    if found.change > LEAST_FRAC * max(found.gradient, 1e-30):
        return None
    return Symptom(
        f"turning Q upside down changes {found.change / max(found.gradient, 1e-30):.1e} of the actor's gradient",
        "update",
        {"change": found.change, "gradient": found.gradient},
    )
