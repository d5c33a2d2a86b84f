"""On shared layers the value loss does not drown the policy loss."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..policy_rows import value_rows

MOST = 10.0
"""The ratio from which the trunk is the critic's (RL notes R68)."""


@check(
    "INV076",
    "value-gradient-dominates",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.INFO,
    fix="Scale the returns or lower the value coefficient.",
)
@skips
def look(bench: Bench) -> Answer:
    """On shared layers the value loss does not drown the policy loss.

    Measured: the norm of the value gradient for errors of 0.3 over that of the policy gradient for standardised
    advantages.

    Why it hurts: the trunk serves the critic only; the policy moves where the critic happens to push it.

    Usual causes: large returns, a high value coefficient.

    What to try: scale returns, lower the value coefficient, or part the networks.

    Harmless: early in training, when the critic has much to learn.
    """
    found = bench.once(value_rows)
    if not found.shared:
        return Skip("actor and critic share no parameters")
    if not found.policy_norm:
        return Skip("the policy loss has no gradient")
    ratio = found.fit.norm / found.policy_norm
    if ratio <= MOST:
        return None
    return Symptom(
        f"on shared layers the value loss pulls {ratio:.0f} times as hard as the policy loss",
        "update",
        {"ratio": ratio},
    )
