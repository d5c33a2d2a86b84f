"""Clipping leaves the gradient that brings a row back."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..quadrants import quadrant_rows

KEPT_FRAC = 0.5
"""Right is 1 and missing is 0; dual clipping (Ye et al. 2020, arXiv 1912.09729) acts beyond a ratio of 3 only."""


@check(
    "INV059",
    "clip-stops-corrective-gradient",
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
    """Clipping leaves the gradient that brings a row back.

    Measured: weights of rows with ratio above 1 + eps and A < 0, or below 1 - eps and A > 0, over their unclipped
    weights; 1 is right.

    Why it hurts: a row that moved the wrong way is stuck there for the rest of the update.

    Usual causes: only the clamped term in the loss: the min with the unclipped one is missing; or max in place of
    min.

    What to try: loss = -min(ratio A, clamp(ratio, 1 - eps, 1 + eps) A).

    Harmless: with dual clipping, for ratios beyond its outer bound only.

    References: Schulman et al. 2017, arXiv 1707.06347, eq. 7.
    """
    found = bench.once(quadrant_rows)
    if found.by_ratio <= 0.5 or found.corrective >= KEPT_FRAC:
        return None
    return Symptom(
        f"rows that went the wrong way keep {found.corrective:.0%} of their gradient: clipping stops both sides",
        "update",
        {"corrective_frac": found.corrective, "beyond_frac": found.beyond},
    )
