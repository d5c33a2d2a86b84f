"""Advantages are those of generalised advantage estimation, done slowly."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..gae import TOLERANCE, responses


@check(
    "INV047",
    "gae-differs-from-reference",
    link=Link.CRITIC,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    fix="Compare with the recursion from the last step backwards.",
    explained_by=(
        "gae-terminated-keeps-bootstrap",
        "gae-truncated-loses-bootstrap",
        "gae-trace-crosses-episodes",
        "gae-last-row-not-bootstrapped",
        "gae-crosses-environments",
        "gae-discount-wrong",
    ),
)
@skips
def look(bench: Bench) -> Answer:
    """Advantages are those of generalised advantage estimation, done slowly.

    Measured: all advantages of a synthetic rollout with every kind of ending against a loop over single numbers.

    Why it hurts: whatever the difference is, it is a bias in every update.

    Usual causes: accumulated forwards in time, flags one step off, rewards clipped on the way, values shifted.

    What to try: walk through one environment by hand from its last step backwards.

    Harmless: with another estimator of advantages (V-trace, n-step returns): do not give it as `advantages`.

    References: Schulman et al. 2015, arXiv 1506.02438.
    """
    found = bench.once(responses)
    error = (found.advantage - found.reference).abs()
    if float(error.max()) <= TOLERANCE:
        return None
    wrong = float((error > TOLERANCE).float().mean())
    return Symptom(
        f"{wrong:.0%} of advantages differ from a slow reference, by up to {float(error.max()):.3g}",
        "advantages",
        {"wrong_frac": wrong, "largest_error": float(error.max())},
    )
