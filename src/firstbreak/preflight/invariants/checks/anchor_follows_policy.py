"""The old policy stays where it was during the inner steps."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..kernel_terms import terms

LEAST_FRAC = 0.01
"""The pull is either whole or missing."""


@check(
    "INV106",
    "anchor-follows-policy",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Refresh the old policy once per rollout only.",
)
@skips
def look(bench: Bench) -> Answer:
    """The old policy stays where it was during the inner steps.

    Measured: the gradient of the trainer's own update on a nudged actor with zero advantages; KL and MMD must pull
    it back.

    Why it hurts: both distances are then always 0: beta and eta have no effect.

    Usual causes: the old policy refreshed before every inner step instead of once per rollout.

    What to try: copy the actor when a rollout begins and at no other time.

    Harmless: never.

    References: Gupta and Mahajan 2026, arXiv 2603.17875, eq. 6.2.
    """
    found = bench.once(terms)
    pull = found.kl_gradient + found.mmd_gradient
    if found.kl_gradient == 0:
        return Skip("the KL term has no gradient")
    if found.update_gradient > LEAST_FRAC * pull:
        return None
    return Symptom(
        f"in the update a policy {found.kl:.2g} away from the old one is not pulled back: the anchor moves along",
        "update",
        {"pull": found.update_gradient, "right_pull": pull},
    )
