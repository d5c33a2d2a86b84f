"""The advantages pull at no token: the policy loss has no gradient."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import TokenBench, skips
from ..terms import shifted
from ..weights import dead, weights


@check(
    "TOK040",
    "loss-without-token-gradient",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Detach the old log-probs only; the new ones must keep their graph.",
)
@skips
def look(bench: TokenBench) -> Answer:
    """The advantages pull at no token: the policy loss has no gradient.

    Measured: the gradient of the loss on the last layer, with standardised advantages less that with zeros.

    Why it hurts: nothing is learnt, while loss, reward and lengths still move.

    Usual causes: old log-probs computed with the graph on, so that the ratio is constant; new ones detached;
    advantages averaged before they meet their rows.

    What to try: one step on one batch: the log-prob of a rewarded completion must rise.

    Harmless: never.
    """
    found = bench.once(weights)
    if not dead(found):
        return None
    one_sided = bench.once(shifted)
    if not dead(one_sided):
        return Skip("advantages of one sign do pull; see rows-share-one-advantage")
    return Symptom(
        "standardised advantages change the gradient on the logits by 0",
        "loss",
        {"gradient": found.total, "rows": len(found.advantage)},
    )
