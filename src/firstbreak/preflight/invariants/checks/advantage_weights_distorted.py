"""Rows weigh in proportion to their advantages."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..policy_rows import policy_rows

REST_FRAC = 0.05
"""The bound on what rounding may do to a weight before it is not judged."""

MOSTLY_FRAC = 0.5
"""Weights of the wrong sign that are proportional for the most part belong to the check on the sign."""


@check(
    "INV056",
    "advantage-weights-distorted",
    link=Link.POLICY_UPDATE,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    fix="Normalise advantages over the whole batch, and once.",
    explained_by=(
        "policy-loss-broadcasts",
        "policy-loss-scores-other-action",
        "log-prob-not-a-density",
    ),
)
@skips
def look(bench: Bench) -> Answer:
    """Rows weigh in proportion to their advantages.

    Measured: what is left of the rows' weights at ratio 1 after the part proportional to standardised advantages.

    Why it hurts: the size of an advantage is lost: a lucky tie weighs as much as a real difference.

    Usual causes: normalised over groups of two, clipped, ranked, or normalised over the wrong axis.

    What to try: print advantages before and after normalisation; normalise over the whole minibatch.

    Harmless: with advantage clipping, ranking or per-group normalisation on purpose (GRPO).
    """

    found = bench.once(policy_rows)
    if found.fit.norm <= 1e-3 * found.expected_norm or not found.fit.sure:
        return Skip(f"policy loss: {found.fit.unsure}", withholds=not found.fit.sure)
    advantage = found.advantage.double()
    slope = float(found.fit.weights @ advantage / (advantage @ advantage))
    rest = float((found.fit.weights - slope * advantage).norm() / found.fit.weights.norm())
    turned = slope >= 0 and rest <= MOSTLY_FRAC
    if rest <= REST_FRAC or turned or not found.fit.explained:
        return None
    return Symptom(
        f"row weights are not proportional to standardised advantages: {rest:.0%} of them is something else",
        "update",
        {"distorted_frac": rest},
    )
