"""Without advantages, KL and entropy bonus the policy is still pulled at."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import TokenBench, skips
from ..terms import rest_at_zero

REST = 1e-3
"""Rounding leaves about 1e-5; no term of a loss is that small beside the others. Engineering default."""


@check(
    "TOK054",
    "zero-advantage-moves-tokens",
    link=Link.EXPLORATION,
    component=Component.LOSS,
    severity=Severity.WARNING,
    fix="Find the term whose gradient is not 0 at zero advantages.",
    explained_by=(
        "kl-ignores-reference",
        "reference-kl-not-zero-at-start",
        "policy-random-in-loss",
        "reference-logprobs-carry-gradient",
    ),
)
@skips
def look(bench: TokenBench) -> Answer:
    """Without advantages, KL and entropy bonus the policy is still pulled at.

    Measured: the gradient on the logits with advantages 0, ratio 1, KL 0 and values on target, over that of
    standardised advantages.

    Why it hurts: something else moves the policy: it sharpens or flattens by itself, whatever is rewarded.

    Usual causes: an auxiliary loss; a KL whose gradient is not 0 at the reference; a value loss that reaches
    the body.

    What to try: take the terms of the loss one by one at zero advantages.

    Harmless: with an entropy bonus or a load-balancing term.
    """
    if float(bench.pieces.settings.get("entropy_coef", 0.0)):
        return Skip("there is an entropy bonus")
    share = bench.once(rest_at_zero)
    if share <= REST:
        return None
    return Symptom(
        f"with all advantages 0 the gradient on the logits is {share:.1%} of its usual norm",
        "loss",
        {"gradient_frac": share},
    )
