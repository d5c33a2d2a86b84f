"""PRB032: how widely continuous actions spread at the start of a training."""

from __future__ import annotations

from ...check import Answer, Symptom, check
from ...finding import Component, Link, Skip
from ..ladder.trial import Trial

NARROW_FRAC = 0.02
"""In half-ranges of the action space. Usual starts are 0.1 (DDPG's noise) to 1 (a Gaussian of unit deviation); below a
fiftieth, a step across the range takes thousands of updates."""


@check(
    "PRB032",
    "exploration-too-narrow",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    fix="Start with a standard deviation of 0.3 to 1 of the half-range, and let it be learned.",
)
def look(trial: Trial) -> Answer:
    """Continuous actions hardly vary at the start of a training.

    **What is measured.** The standard deviation of the actions in the first quarter of the steps, per dimension, in
    half-ranges of the action space; the median over the rungs.

    **Why it hurts.** Without variation no action is ever better than another.

    **Usual causes.** A log standard deviation that is a constant or has a very low start; noise in the
    wrong unit.

    **What to try.** Print the policy's standard deviation at step 0 and see whether it is a parameter.

    **When it is harmless.** When training starts from a good policy.

    References: Andrychowicz et al. 2020, arXiv 2006.05990 (initial standard deviation).
    """
    spreads = sorted(min(o.first_spread) for o in trial.outcomes if o.finished and o.first_spread)
    if not spreads:
        return Skip("no training with continuous actions")
    middle = spreads[len(spreads) // 2]
    if middle >= NARROW_FRAC:
        return None
    return Symptom(
        f"actions spread over {middle:.2g} of the half-range in the first quarter of training, usual is 0.1 to 1",
        "action",
        {"spread_half_ranges": middle, "trainings": len(spreads)},
    )
