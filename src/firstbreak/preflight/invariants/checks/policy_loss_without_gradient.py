"""Advantages reach the policy: the policy loss has a gradient."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..policy_rows import policy_rows

LEAST_FRAC = 1e-4
"""Rounding leaves about 1e-6 of the expected norm; a real term is of its order."""


@check(
    "INV052",
    "policy-loss-without-gradient",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Let the new log-prob carry its gradient into the ratio.",
)
@skips
def look(bench: Bench) -> Answer:
    """Advantages reach the policy: the policy loss has a gradient.

    Measured: the change of the actor's gradient between standardised advantages and zeros, over that of -mean(A log
    pi).

    Why it hurts: entropy and value terms still move things, so the curves look alive; the policy learns nothing.

    Usual causes: log_prob detached or under no_grad, a coefficient of 0, another copy of the actor in the loss.

    What to try: autograd.grad of the policy term alone on the actor's last layer.

    Harmless: during a critic-only warm-up.
    """
    found = bench.once(policy_rows)
    norms = [found.fit.norm] + ([found.quadrants.norm] if found.quadrants is not None else [])
    share = max(norms) / max(found.expected_norm, 1e-30)
    if share > LEAST_FRAC:
        return None
    return Symptom(
        f"advantages change the actor's gradient by {share:.1e} of what they should: no policy gradient",
        "update",
        {"gradient_frac": share},
    )
