"""Beyond the clip range the gradient goes on where it should stop."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import TokenBench, skips
from ..terms import clipping

LEFT_FRAC = 0.01
"""Rounding leaves about 1e-6. Engineering default."""


@check(
    "TOK070",
    "token-clip-keeps-gradient",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Take the smaller of the plain and the clipped objective, and clamp the ratio on both sides.",
    explained_by=("token-clip-stops-correction",),
)
@skips
def look(bench: TokenBench) -> Answer:
    """Beyond the clip range the gradient goes on where it should stop.

    Measured: the gradient that is left on rows whose ratio lies well above the upper bound with A > 0, or well
    below the lower one with A < 0.

    Why it hurts: one batch can move the policy without bound.

    Usual causes: max instead of min; one bound missing; the clip applied to the log-ratio.

    What to try: one minibatch many times: the ratio must stop near the bound.

    Harmless: with losses that do not clip (REINFORCE, CISPO), or a bound left out on purpose.

    References: Schulman et al. 2017, arXiv 1707.06347, section 3.
    """
    found = bench.once(clipping)
    sides = [(s, v) for s, v in (("above", found.above_positive), ("below", found.below_negative)) if v > LEFT_FRAC]
    if not sides:
        return None
    name, left = max(sides, key=lambda pair: pair[1])
    return Symptom(
        f"{name} the clip range {left:.0%} of the gradient is left where it should be 0",
        "loss",
        {"left_above_frac": found.above_positive, "left_below_frac": found.below_negative},
    )
