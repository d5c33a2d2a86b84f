"""The value target is the raw advantage plus the value."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..gae import TOLERANCE, responses


@check(
    "INV046",
    "value-target-not-advantage-plus-value",
    link=Link.CRITIC,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    fix="Set the value target to the raw advantage plus the value of the rollout.",
)
@skips
def look(bench: Bench) -> Answer:
    """The value target is the raw advantage plus the value.

    Measured: target minus advantage minus value on a synthetic rollout; 0 is right.

    Why it hurts: a critic trained on advantages alone learns 0 and stops being a baseline.

    Usual causes: + V forgotten, the normalised advantage used, values of another pass.

    What to try: target = raw advantage + V, before any normalisation.

    Harmless: with targets from another estimator (Monte Carlo, n-step): then the difference is meant.

    References: Schulman et al. 2015, arXiv 1506.02438.
    """
    found = bench.once(responses)
    value = found.columns["value"].double()
    error = float((found.target - found.advantage - value).abs().max())
    if error <= TOLERANCE:
        return None
    only = float((found.target - found.advantage).abs().max())
    if only <= TOLERANCE:
        return Symptom(
            "the value target is the advantage alone: + V is missing", "advantages", {"largest_error": error}
        )
    return Symptom(
        f"the value target is up to {error:.3g} away from advantage plus value",
        "advantages",
        {"largest_error": error},
        severity=Severity.WARNING,
    )
