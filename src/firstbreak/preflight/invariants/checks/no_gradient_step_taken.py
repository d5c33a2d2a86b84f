"""A round of training takes at least one optimiser step."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..optimising import rounds


@check(
    "INV006",
    "no-gradient-step-taken",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    fix="Make the minibatch no larger than the rollout, or keep the last partial minibatch.",
)
@skips
def look(bench: Bench) -> Answer:
    """A round of training takes at least one optimiser step.

    Measured: optimiser steps, of all optimisers, during the trainer's own first rounds.

    Why it hurts: nothing is learnt and everything else looks healthy: losses are finite, KL is 0, ratios are 1.

    Usual causes: a minibatch larger than the rollout with the last partial one dropped; a loop over an empty list;
    early stopping at 0.

    What to try: print the number of minibatches per epoch; keep the partial one.

    Harmless: while a warm-up collects only; then give `iterate` enough steps.
    """
    found = bench.once(rounds)
    if found.steps:
        return None
    return Symptom("whole rounds of training took 0 optimiser steps", "iterate", {"steps_n": 0})
