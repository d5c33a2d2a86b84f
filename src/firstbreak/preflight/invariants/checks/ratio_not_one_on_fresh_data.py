"""Before the first update on a rollout the importance ratio is 1 in every row."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..optimising import rounds


@check(
    "INV036",
    "ratio-not-one-on-fresh-data",
    link=Link.POLICY_UPDATE,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    fix="Store obs, action and log-prob of one and the same policy call, and clear the buffer after use.",
    explained_by=("log-prob-differs-from-sampling",),
)
@skips
def look(bench: Bench) -> Answer:
    """Before the first update on a rollout the importance ratio is 1 in every row.

    Measured: after a few rounds: stored log-probs of a new rollout (or of its first minibatch) against
    log_prob(stored obs, stored action) by the same policy.

    Why it hurts: the update compares with a policy that did not act; clipping and KL start from a wrong place.

    Usual causes: rows of an older rollout left in the buffer, a collector with old weights, the action clipped
    after its log-prob, observation statistics moved in between, another action scored.

    What to try: clear the buffer, sync the collector, store the unclipped action, freeze statistics during the
    update.

    Harmless: in asynchronous training, where the lag is known and corrected.

    References: Huang et al. 2022, The 37 implementation details of PPO.
    """
    bench.only("PPO", "A2C", "MM-RKHS")
    bench.need(*([] if bench.pieces.minibatch else ["rollout"]), "log_prob")
    found = bench.once(rounds)
    if found.log_prob_error is None:
        return Skip("no log-probs are stored, or the parameters are not finite after the first rounds")
    if found.log_prob_error <= found.log_prob_tolerance:
        return None
    return Symptom(
        f"{found.off_frac:.0%} of fresh log-probs are up to {found.log_prob_error:.2g} nats off: the ratio is not 1",
        "log_prob",
        {
            "difference_nats": found.log_prob_error,
            "rows_frac": found.off_frac,
            "tolerance_nats": found.log_prob_tolerance,
        },
        link=Link.DATA_FRESHNESS if 0.2 < found.off_frac < 0.8 else None,
    )
