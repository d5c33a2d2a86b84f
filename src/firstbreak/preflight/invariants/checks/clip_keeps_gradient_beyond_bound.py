"""Beyond the clip bound the gradient stops where the advantage asks for more of the same."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..quadrants import quadrant_rows

KEPT_FRAC = 0.05
"""The bound on what rounding may do to a weight before it is not judged."""

PENALTY_FRAC = 0.1
"""Pull back with advantages of 0 over the usual gradient; 0 without a penalty. Engineering default."""


@check(
    "INV058",
    "clip-keeps-gradient-beyond-bound",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Take the minimum of the clipped and the unclipped surrogate.",
    explained_by=(
        "stored-log-prob-ignored",
        "policy-loss-sign-flipped",
        "policy-loss-broadcasts",
        "policy-loss-scores-other-action",
        "policy-loss-without-gradient",
    ),
)
@skips
def look(bench: Bench) -> Answer:
    """Beyond the clip bound the gradient stops where the advantage asks for more of the same.

    Measured: weights of rows with ratio above 1 + eps and A > 0, or below 1 - eps and A < 0, over their unclipped
    weights; 0 is right.

    Why it hurts: nothing holds the policy near the one that collected the data.

    Usual causes: max where min is meant, the clipped term left out, clip bounds in log space.

    What to try: loss = -min(ratio A, clamp(ratio, 1 - eps, 1 + eps) A).

    Harmless: with a KL penalty in place of clipping; its pull with advantages of 0 is seen, and this is not asked.

    References: Schulman et al. 2017, arXiv 1707.06347, eq. 7.
    """
    found = bench.once(quadrant_rows)
    if found.by_ratio <= 0.5 or found.beyond <= KEPT_FRAC:
        return None
    if found.held_back_frac >= PENALTY_FRAC:
        return Skip("a penalty on the distance from the rollout's policy holds steps back in the place of the clip")
    return Symptom(
        f"beyond the clip bound {found.beyond:.0%} of the gradient is kept where it must stop",
        "update",
        {"kept_frac": found.beyond, "corrective_frac": found.corrective},
    )
