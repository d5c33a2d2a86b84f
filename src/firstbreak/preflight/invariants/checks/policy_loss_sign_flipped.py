"""A positive advantage raises the log-prob of its action, a negative one lowers it."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..policy_rows import policy_rows
from ..torch_types import load_torch

WRONG_FROM = 0.5
"""Right is -1 and flipped is +1, both to seven digits."""


@check(
    "INV055",
    "policy-loss-sign-flipped",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Minimise minus the surrogate; check that advantages are of rewards, not of costs.",
)
@skips
def look(bench: Bench) -> Answer:
    """A positive advantage raises the log-prob of its action, a negative one lowers it.

    Measured: the correlation of the rows' weights in the loss gradient with their advantages; -1 is right.

    Why it hurts: return is minimised; loss, KL and entropy look healthy while it falls.

    Usual causes: the minus sign of the surrogate lost, cost and reward exchanged, advantage = V - return.

    What to try: one step on one sample: its log-prob must go up when its advantage is positive.

    Harmless: never.
    """
    torch = load_torch()

    found = bench.once(policy_rows)
    if found.fit.norm <= 1e-3 * found.expected_norm:
        return Skip("the policy loss has no gradient at ratio 1")
    both = torch.stack([found.fit.weights, found.advantage.double()])
    correlation = float(torch.corrcoef(both)[0, 1])
    if correlation < WRONG_FROM:
        return None
    return Symptom(
        f"a positive advantage lowers the log-prob of its action (weights and advantages correlate {correlation:+.2f})",
        "update",
        {"correlation": correlation, "right_correlation": -1.0},
    )
