"""Beyond the clip range the gradient that would correct the ratio is stopped."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import TokenBench, skips
from ..terms import clipping

KEPT_FRAC = 0.5
"""All of it should be left. Engineering default."""


@check(
    "TOK071",
    "token-clip-stops-correction",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Take the smaller of the plain and the clipped objective, so that a harmful ratio keeps its gradient.",
)
@skips
def look(bench: TokenBench) -> Answer:
    """Beyond the clip range the gradient that would correct the ratio is stopped.

    Measured: the gradient that is left on rows whose ratio is low with A > 0, or high with A < 0.

    Why it hurts: a token that went the wrong way cannot come back.

    Usual causes: the clipped objective alone, without the min; max instead of min.

    What to try: give one row a ratio of 0.5 and A = 1: its gradient must not be 0.

    Harmless: with losses that mask both sides on purpose, or a dual clip (Ye et al. 2020, arXiv 1912.09729).
    """
    found = bench.once(clipping)
    sides = [(s, v) for s, v in (("above", found.above_negative), ("below", found.below_positive)) if v < KEPT_FRAC]
    if not sides:
        return None
    name, left = min(sides, key=lambda pair: pair[1])
    return Symptom(
        f"{name} the clip range {left:.0%} of the correcting gradient is left",
        "loss",
        {"kept_above_frac": found.above_negative, "kept_below_frac": found.below_positive},
    )
