"""The learning rate is not used up in the first tenth of a run."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..optimising import rounds

LEFT_FRAC = 0.5
"""A linear schedule has 90 % left by then, a cosine 98 %, an exponential one to 1 % 63 %."""


@check(
    "INV013",
    "learning-rate-exhausted",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    fix="Step the schedule in the unit in which its length is counted.",
)
@skips
def look(bench: Bench) -> Answer:
    """The learning rate is not used up in the first tenth of a run.

    Measured: the learning rate after the first rounds of a run planned ten times as long, over that at its start.

    Why it hurts: a rate that reaches 0 early freezes the policy while training goes on; a negative one climbs the
    loss.

    Usual causes: a schedule stepped per minibatch whose length is counted in rollouts, or the other way round.

    What to try: plot the rate against steps; count schedule and steps in the same unit.

    Harmless: with cosine restarts or a one-cycle schedule that is meant to fall at once.
    """
    found = bench.once(rounds)
    if found.lr_frac >= LEFT_FRAC:
        return None
    return Symptom(
        f"the learning rate is at {found.lr_frac:.0%} of its start after a tenth of a planned run",
        "optimisers",
        {"lr_frac": found.lr_frac, "steps_n": found.steps},
    )
