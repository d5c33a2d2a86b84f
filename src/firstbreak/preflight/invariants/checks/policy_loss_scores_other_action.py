"""The policy loss scores the stored actions."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..draws import redrawn_frac
from ..policy_rows import policy_rows

OTHER_FRAC = 0.01
"""Rounding leaves 1e-4 at most; another action in one row of twelve leaves over 10 %."""
REDRAWN_FRAC = 0.3
"""Two draws of the actions share no more of the gradient than chance; summation in another order 1e-6 of it."""


@check(
    "INV054",
    "policy-loss-scores-other-action",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Evaluate the log-prob of the stored action in the loss instead of drawing a new one.",
)
@skips
def look(bench: Bench) -> Answer:
    """The policy loss scores the stored actions.

    Measured: the share of the policy gradient that no weighting of the stored actions' log-prob gradients explains; for
    PPO and A2C also how much of it another seed changes, on the same rows.

    Why it hurts: the advantage of one action is credited to another; the ratio is not 1 even for equal policies.

    Usual causes: the policy is sampled again inside the loss, indices mixed up, a probabilistic actor left in
    random mode.

    What to try: dist.log_prob(stored action); with TorchRL set the exploration type or use get_dist.

    Harmless: never.

    References: failure mode: resampled-action log-prob.
    """
    found = bench.once(policy_rows)
    redrawn = bench.once(redrawn_frac) if bench.pieces.algorithm in {"PPO", "A2C"} else 0.0
    if redrawn > REDRAWN_FRAC:
        return Symptom(
            f"another seed changes {redrawn:.0%} of the policy gradient on the same rows: actions are drawn anew",
            "update",
            {"redrawn_frac": redrawn},
        )
    if found.fit.norm <= 1e-3 * found.expected_norm:
        return Skip("the policy loss has no gradient at ratio 1")
    if found.fit.explained or found.fit.residual_frac < OTHER_FRAC:
        return None
    return Symptom(
        f"{found.fit.residual_frac:.0%} of the policy gradient is not of the stored actions' log-probs",
        "update",
        {"unexplained_frac": found.fit.residual_frac, "rounding_frac": found.fit.residual_error},
    )
