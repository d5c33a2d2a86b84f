"""The target entropy can be reached."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..density import draws

NARROWEST = 16.0
"""Nats below the uniform distribution, per dimension, at which draws differ by less than the rounding of float32."""

NARROW = 8.0
"""The same where a warning is due: a spread of 0.03 % of the range. Of the recipe it is 1.7: minus one
nat a dimension, in [-1, 1]."""


@check(
    "INV098",
    "target-entropy-unreachable",
    link=Link.EXPLORATION,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Use minus the number of action dimensions, in the units of the scored actions.",
)
@skips
def look(bench: Bench) -> Answer:
    """The target entropy can be reached.

    Measured: the target entropy against that of the uniform distribution over the action box (or over the discrete
    actions), and against that of the narrowest spread that float32 can hold. Warns where it can be reached, in a wide
    box or because actions have no bounds, but is exactly plus the number of dimensions.

    Why it hurts: out of reach above, the temperature grows without end and drowns the reward; out of reach below, it
    falls to 0 and nothing is explored.

    Usual causes: +dim(A) in place of -dim(A), the target of another number of actions, actions scaled after the
    target was chosen, a sum over the batch or over several heads.

    What to try: minus one nat per dimension for actions in [-1, 1]; plus log(half range) for others.

    Harmless: never.

    References: Haarnoja et al. 2018, arXiv 1812.05905, appendix D.
    """
    import math

    bench.only("SAC")
    target = float(bench.setting("target_entropy"))
    n = bench.pieces.settings.get("n_actions")
    if n:
        most = math.log(n)
    else:
        low, high = bench.setting("policy_low"), bench.setting("policy_high")
        if low is None or high is None:
            bounded, most, dimensions = False, math.inf, _dimensions(bench)
        else:
            bounded, dimensions = True, len(low)
            most = sum(math.log(b - a) for a, b in zip(low, high, strict=True))
            least = most - NARROWEST * dimensions
            if target < least:
                return Symptom(
                    f"the target entropy is {target:.3g} nats; actions that float32 can tell apart have {least:.3g}",
                    "target_entropy",
                    {"target_nats": target, "least_nats": least, "recipe_nats": -dimensions},
                )
            if target < most - NARROW * dimensions:
                below = (most - target) / dimensions
                return Symptom(
                    f"the target entropy is {target:.3g} nats, {below:.1f} a dimension below uniform; usual is 1.7",
                    "target_entropy",
                    {"target_nats": target, "recipe_nats": -dimensions},
                    severity=Severity.WARNING,
                )
        if target < most and target == dimensions:
            return Symptom(
                f"the target entropy is +{dimensions}, the number of action dimensions; the recipe is -{dimensions}",
                "target_entropy",
                {"target_nats": target, "recipe_nats": -target, **({"most_nats": most} if bounded else {})},
                severity=Severity.WARNING,
            )
    if target < most:
        return None
    return Symptom(
        f"the target entropy is {target:.2f} nats; actions within their bounds have at most {most:.2f}",
        "target_entropy",
        {"target_nats": target, "most_nats": most},
    )


def _dimensions(bench: Bench) -> int:
    """How many action dimensions a policy without bounds has: what the settings say, else what it draws."""
    low = bench.pieces.settings.get("action_low")
    return len(low) if low is not None else bench.once(draws)[1][0].numel()
