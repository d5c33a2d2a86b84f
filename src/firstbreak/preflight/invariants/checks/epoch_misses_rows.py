"""Each epoch holds every row of the rollout once."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..coverage import epochs


@check(
    "INV109",
    "epoch-misses-rows",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    fix="Shuffle the indices once an epoch and cut them into minibatches.",
)
@skips
def look(bench: Bench) -> Answer:
    """Each epoch holds every row of the rollout once.

    Measured: all minibatches of one update on a fresh rollout, its rows told apart by their observations: rows that
    come twice within one pass over the rollout, and rows that never come.

    Why it hurts: data that was paid for is not learnt from, while other rows are taken several times and count for
    more than their share; settings found for full epochs no longer hold.

    Usual causes: indices drawn with replacement; the first minibatch taken again in each turn of the loop; a `break`
    after it; an order that is shuffled but not used.

    What to try: order = randperm(B), then order.split(size).

    Harmless: where drawing with replacement is meant, as some libraries do; a last partial minibatch that is dropped
    is not counted.

    References: Schulman et al. 2017, arXiv 1707.06347, algorithm 1.
    """
    if not bench.on_policy:
        return Skip("there is no rollout that is gone through in epochs")
    found = bench.once(epochs)
    unseen = found.unseen_frac - found.dropped_frac
    if found.repeated_frac <= 0 and unseen <= 0:
        return None
    return Symptom(
        f"{found.repeated_frac:.0%} of an epoch's rows are repeats; {found.unseen_frac:.0%} of the rollout never comes",
        "minibatches",
        {"repeated_frac": found.repeated_frac, "unseen_frac": found.unseen_frac, "rollout_rows_n": found.rows},
    )
