"""All parameters are finite after the first rounds of training."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..optimising import rounds


@check(
    "INV007",
    "parameters-not-finite",
    link=Link.NUMERICS,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    fix="Guard the advantage normalisation: more than one row, and a small epsilon in the divisor.",
)
@skips
def look(bench: Bench) -> Answer:
    """All parameters are finite after the first rounds of training.

    Measured: every parameter after the trainer's own first rounds on small random environments.

    Why it hurts: one NaN spreads to every weight at the next step and nothing comes back from it.

    Usual causes: a last minibatch of one row whose advantages are divided by a standard deviation of nothing;
    division by a spread of 0.

    What to try: skip the normalisation for a single row, add 1e-8 to the divisor, or choose a minibatch size that
    divides the rollout.

    Harmless: never.

    References: Stable-Baselines3 issue 325.
    """
    found = bench.once(rounds)
    if not found.not_finite:
        return None
    return Symptom(
        f"{len(found.not_finite)} parameters are NaN or infinite after the first rounds, {found.not_finite[0]} first",
        found.not_finite[0],
        {"parameters_n": len(found.not_finite), "steps_n": found.steps},
        component=Component.ADVANTAGE if bench.on_policy else None,
    )
