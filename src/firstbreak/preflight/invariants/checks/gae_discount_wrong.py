"""Advantages are discounted by gamma, and their trace decays by gamma times lambda."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..gae import TOLERANCE, responses


@check(
    "INV045",
    "gae-discount-wrong",
    link=Link.CRITIC,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    fix="Use gamma once per step, and gamma times lambda for the trace.",
    explained_by=("gae-crosses-environments",),
)
@skips
def look(bench: Bench) -> Answer:
    """Advantages are discounted by gamma, and their trace decays by gamma times lambda.

    Measured: the change of an advantage per unit of the value that follows, and per unit of the next reward.

    Why it hurts: another discount is another task: squared, it halves the horizon.

    Usual causes: gamma applied twice, gamma and lambda exchanged, a default used in place of the setting.

    What to try: print both factors; compare with the slow formula.

    Harmless: with another estimator of advantages (V-trace, n-step returns): do not give it as `advantages`.

    References: Schulman et al. 2015, arXiv 1506.02438.
    """
    found, gamma = bench.once(responses), float(bench.setting("gamma"))
    trace = gamma * float(bench.setting("gae_lambda"))
    if abs(found.bootstrap_last) > TOLERANCE and abs(found.bootstrap_last - gamma) > TOLERANCE:
        return Symptom(
            f"the next value is discounted by {found.bootstrap_last:.4f}, gamma is {gamma:.4f}",
            "advantages",
            {"discount": found.bootstrap_last, "gamma": gamma, "trace": found.next_reward},
        )
    if abs(found.next_reward - trace) > TOLERANCE:
        return Symptom(
            f"the trace decays by {found.next_reward:.4f} a step, gamma times lambda is {trace:.4f}",
            "advantages",
            {"trace": found.next_reward, "right_trace": trace},
        )
    return None
