"""The temperature grows while entropy is below its target and falls while above."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..soft import heat

SIGMAS = 6.0
"""Six standard errors of the entropy."""
LEAST_NATS = 0.2
"""The update draws actions of its own: closer than this the sign is a matter of luck."""


@check(
    "INV097",
    "temperature-moves-wrong-way",
    link=Link.EXPLORATION,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Turn the sign of the temperature loss.",
)
@skips
def look(bench: Bench) -> Answer:
    """The temperature grows while entropy is below its target and falls while above.

    Measured: the sign of the temperature's gradient against entropy minus target, at the policy as it is.

    Why it hurts: the loop runs away: a random policy is made more random, a collapsed one is left alone.

    Usual causes: the sign of the temperature loss, target entropy of the wrong sign.

    What to try: alpha_loss = -(log_alpha * (log_prob + target).detach()).mean().

    Harmless: never.

    References: Haarnoja et al. 2018, arXiv 1812.05905, eq. 18.
    """
    found = bench.once(heat)
    if not found.gradient:
        return Skip("the temperature has no gradient")
    gap = found.entropy - found.target
    if abs(gap) < SIGMAS * found.entropy_error + LEAST_NATS:
        return Skip("the entropy is too close to its target to tell")
    if (found.gradient > 0) == (gap > 0):
        return None
    way = "falls" if found.gradient > 0 else "grows"
    return Symptom(
        f"the temperature {way} with the entropy {gap:+.2f} nats from its target", "log_temperature", {"gap_nats": gap}
    )
