"""The KL term pushes the policy away from the reference."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import TokenBench, skips
from ..noise import MOVED
from ..terms import kl_pull


@check(
    "TOK052",
    "kl-pushes-from-reference",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Add the KL term to what is minimised.",
)
@skips
def look(bench: TokenBench) -> Answer:
    """The KL term pushes the policy away from the reference.

    Measured: the sign of the KL term's pull on tokens whose reference log-prob is 0.3 nats above or below the
    policy's, at advantages of 0.

    Why it hurts: the policy leaves the reference at an accelerating rate.

    Usual causes: subtracted from a loss instead of added; log-probs of policy and reference exchanged.

    What to try: with beta = 1 and no reward the KL must fall.

    Harmless: never.

    References: k1, k2, k3: Schulman 2020, http://joschu.net/blog/kl-approx.html.
    """
    found = bench.once(kl_pull)
    if found.moved < MOVED or not found.above > 0 > found.below:
        return None
    return Symptom(
        f"where the reference is above the policy the KL lowers the token (weight {found.above:+.2g})",
        "loss",
        {"weight_above": found.above, "weight_below": found.below},
    )
