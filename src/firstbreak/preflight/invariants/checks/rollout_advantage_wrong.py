"""The advantages of a real rollout are those of what the environments did."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Number, Severity
from ..bench import Bench, skips
from ..stored import advantages


@check(
    "INV037",
    "rollout-advantage-wrong",
    link=Link.CRITIC,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    fix="Feed GAE with the flags and final observations of the very same step.",
    explained_by=(
        "stored-reward-differs",
        "gae-terminated-keeps-bootstrap",
        "gae-truncated-loses-bootstrap",
        "gae-trace-crosses-episodes",
        "gae-last-row-not-bootstrapped",
        "gae-crosses-environments",
        "gae-discount-wrong",
        "gae-differs-from-reference",
    ),
)
@skips
def look(bench: Bench) -> Answer:
    """The advantages of a real rollout are those of what the environments did.

    Measured: the trainer's advantages against a slow reference from the environments' own record and the critic's
    values of it.

    Why it hurts: credit goes to the wrong step, or values near time limits and at the end of a rollout are off.

    Usual causes: the last row not bootstrapped, a time limit taken as termination, the value of the reset
    observation used, flags one step off.

    What to try: read the fault that is named: it alone reproduces the stored numbers; when none is named compare
    row by row.

    Harmless: with another estimator of advantages (V-trace, n-step): compare that with its own reference.

    References: Schulman et al. 2015, arXiv 1506.02438; Pardo et al. 2018, arXiv 1712.00378.
    """
    bench.only("PPO", "A2C", "MM-RKHS")
    found = bench.once(advantages)
    if found.error <= found.tolerance:
        return None
    evidence: dict[str, Number] = {
        "wrong_frac": found.wrong_frac,
        "largest_error": found.error,
        "tolerance": found.tolerance,
    }
    link = Link.ENVIRONMENT_DATA if found.variant in {"cut", "reset"} else None
    component = {"last": Component.ADVANTAGE, "never": Component.ADVANTAGE}.get(found.variant)
    if found.explanation:
        message = f"{found.explanation}: {found.wrong_frac:.0%} of the advantages of a real rollout are wrong"
    else:
        message = f"{found.wrong_frac:.0%} of the advantages of a real rollout are wrong, by up to {found.error:.2g}"
    return Symptom(message, "advantage", evidence, link=link, component=component)
