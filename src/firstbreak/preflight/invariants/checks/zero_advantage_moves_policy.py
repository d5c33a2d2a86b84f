"""Without advantages and entropy bonus the policy is left alone."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..draws import draws
from ..policy_rows import policy_rows

REST_FRAC = 1e-3
"""Rounding leaves about 1e-5 (eps sqrt n); no term of a loss is that small beside the others."""


@check(
    "INV051",
    "zero-advantage-moves-policy",
    link=Link.EXPLORATION,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Find the term whose gradient is not 0 at zero advantages.",
    explained_by=(
        "value-loss-moves-actor",
        "mmd-not-zero-for-equal-policies",
        "kl-term-wrong-sign",
    ),
)
@skips
def look(bench: Bench) -> Answer:
    """Without advantages and entropy bonus the policy is left alone.

    Measured: the gradient on the actor with all advantages 0 and ratio 1, over that of standardised advantages.

    Why it hurts: something else moves the policy: it sharpens or flattens by itself.

    Usual causes: a value loss that reaches the actor, an inner step without its fixed point, an entropy term nobody
    set.

    What to try: take the terms of the loss one by one at zero advantages.

    Harmless: with an entropy bonus, weight decay or a KL to another policy; the draft form of MM-RKHS sharpens by
    design.

    References: Gupta and Mahajan 2026, arXiv 2603.17875.
    """
    found = bench.once(policy_rows)
    if float(bench.pieces.settings.get("entropy_coef", 0.0)):
        from ..entropy import without_entropy

        size = bench.once(without_entropy)
    else:
        size = float(found.zero.norm())
    share = size / max(found.expected_norm, 1e-30)
    if share <= REST_FRAC:
        return None
    if bench.once(draws):
        return Skip("the update draws random numbers, whose noise cannot be told from a gradient")
    draft = bench.pieces.settings.get("form") == "draft"
    return Symptom(
        f"with all advantages 0 and no entropy bonus the policy gradient is {share:.1%} of its usual norm",
        "update",
        {"gradient_frac": share},
        severity=Severity.INFO if draft else None,
    )
