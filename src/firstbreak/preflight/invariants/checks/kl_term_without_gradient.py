"""The KL term holds the policy back: it has a gradient away from the old policy."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..kernel_terms import terms


@check(
    "INV100",
    "kl-term-without-gradient",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Compute the KL from the new policy with its gradient.",
)
@skips
def look(bench: Bench) -> Answer:
    """The KL term holds the policy back: it has a gradient away from the old policy.

    Measured: the gradient of the KL term on the actor after a small nudge of its weights.

    Why it hurts: eta has no effect; steps are limited by chance only.

    Usual causes: the KL computed under no_grad or from detached log-probs.

    What to try: autograd.grad of the KL term alone.

    Harmless: never.

    References: Gupta and Mahajan 2026, arXiv 2603.17875, eq. 6.2.
    """
    found = bench.once(terms)
    if found.kl_gradient > 0:
        return None
    return Symptom(
        f"the KL term is {found.kl:.2g} and has no gradient: 1/eta does nothing", "losses", {"kl_term": found.kl}
    )
