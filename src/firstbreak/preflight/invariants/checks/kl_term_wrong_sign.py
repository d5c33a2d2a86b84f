"""Distance from the old policy costs."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..kernel_terms import terms


@check(
    "INV101",
    "kl-term-wrong-sign",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Add the KL term to the loss with a plus sign.",
)
@skips
def look(bench: Bench) -> Answer:
    """Distance from the old policy costs.

    Measured: the KL term in the loss after a small nudge of the actor; positive is right.

    Why it hurts: the policy is driven away from the data it was collected with.

    Usual causes: a minus sign, the loss of the paper's cost form mixed with rewards.

    What to try: loss = -gain + beta MMD^2 + KL / eta.

    Harmless: with a sampled k1 estimate, which may be negative by chance; use the closed form.

    References: Gupta and Mahajan 2026, arXiv 2603.17875, eq. 6.2.
    """
    found = bench.once(terms)
    if found.kl >= 0:
        return None
    return Symptom(
        f"away from the old policy the KL term is {found.kl:.2g}: distance is rewarded", "losses", {"kl_term": found.kl}
    )
