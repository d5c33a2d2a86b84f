"""A positive advantage lowers the log-prob of its tokens."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import TokenBench, skips
from ..weights import live_weights, trained

WRONG_WAY = 0.1
"""Tokens that still go the right way. A lost sign leaves none, mixed-up rows about half. Engineering default."""


@check(
    "TOK060",
    "token-advantage-sign-flipped",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Minimise minus the advantage times the ratio.",
    explained_by=("logits-score-wrong-token",),
)
@skips
def look(bench: TokenBench) -> Answer:
    """A positive advantage lowers the log-prob of its tokens.

    Measured: the weight of each trained token against the advantage of its row.

    Why it hurts: the policy unlearns what is rewarded.

    Usual causes: a missing minus; a reward that is a cost.

    What to try: one step on one batch: the log-prob of the best completion must rise.

    Harmless: never.
    """
    found = bench.once(live_weights)
    mask = trained(found) & found.touched
    product = -(found.weight * found.advantage[:, None])[mask]
    share = float((product > 0).float().mean()) if len(product) else 1.0
    if share > WRONG_WAY:
        return None
    return Symptom(
        f"{1 - share:.0%} of the trained tokens are pulled against the advantage of their row",
        "loss",
        {"wrong_way_frac": 1 - share},
    )
