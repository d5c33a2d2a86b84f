"""Each row is weighed by its own advantage, not by everybody's."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..policy_rows import policy_rows

ALIKE_FRAC = 0.05
"""A mean over all rows gives each the same weight, up to rounding. Engineering default."""


@check(
    "INV053",
    "policy-loss-broadcasts",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Bring log-probs, old log-probs and advantages to the same shape [B].",
    explained_by=("policy-loss-without-gradient", "policy-loss-scores-other-action"),
)
@skips
def look(bench: Bench) -> Answer:
    """Each row is weighed by its own advantage, not by everybody's.

    Measured: the weight of each row in the policy gradient, with the advantages in two orders; they must follow
    their rows.

    Why it hurts: [B] times [B, 1] is [B, B]: every action gets the mean advantage, which is 0 when normalised.

    Usual causes: advantages or old log-probs of shape [B, 1] against log-probs of [B].

    What to try: assert equal shapes before multiplying; squeeze once, where the column is made.

    Harmless: never.
    """
    found = bench.once(policy_rows)
    scale = float(found.advantage.norm()) / len(found.advantage)
    same = float((found.fit.weights - found.permuted.weights).norm())
    quiet = found.fit.norm <= 1e-3 * found.expected_norm
    if quiet and found.quadrants is not None and found.quadrants.norm > 1e-3 * found.expected_norm:
        return Symptom(
            "standardised advantages cancel to 0 at ratio 1: every row gets the mean of all (shape [B, B])",
            "update",
            {"gradient_frac": found.fit.norm / found.expected_norm},
        )
    if not quiet and bench.pieces.settings.get("clip_range"):
        advantage = found.advantage.double()
        slope = float(found.fit.weights @ advantage / (advantage @ advantage))
        odd = float((found.fit.weights - slope * advantage).norm() / found.fit.weights.norm())
        change = float((found.moved_old.weights - found.fit.weights).norm() / found.fit.weights.norm())
        if odd > 0.05 and change < 1e-2:
            return Symptom(
                f"stored log-probs in another order change the rows' weights by {change:.1e}: the ratio is [B, B]",
                "update",
                {"change_frac": change, "distorted_frac": odd},
            )
    if quiet or same > 1e-2 * scale:
        return None
    alike = float(found.fit.weights.std()) <= ALIKE_FRAC * float(found.fit.weights.abs().mean())
    why = "[B, 1] meets [B] in the loss" if alike else "rows do not get their own (sorted, or in another order?)"
    return Symptom(
        f"advantages in another order change the rows' weights by {same / scale:.1e}: {why}",
        "update",
        {"change_frac": same / scale},
    )
