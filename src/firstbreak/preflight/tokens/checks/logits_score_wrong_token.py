"""The loss scores another token than the one that follows: logits and labels are off by one."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import TokenBench, skips
from ..noise import REST_FRAC, rest_by_place
from ..weights import live_weights


@check(
    "TOK032",
    "logits-score-wrong-token",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Score the token of column t + 1 with the logits of column t.",
)
@skips
def look(bench: TokenBench) -> Answer:
    """The loss scores another token than the one that follows: logits and labels are off by one.

    Measured: along which token the gradient on each column of logits points: the next one, or one some places
    away.

    Why it hurts: the policy learns to repeat or to skip tokens; the loss looks normal.

    Usual causes: logits and labels not shifted against each other; shifted twice, by the collator and by the
    loss.

    What to try: compare with log_softmax of the logits of column t at the token of column t + 1.

    Harmless: never.
    """
    found = bench.once(live_weights)
    usual = found.rest_frac
    if usual <= REST_FRAC:
        return None
    by_place = bench.once(rest_by_place)
    best = min(by_place, key=lambda ahead: by_place[ahead])
    if best == 0 or by_place[best] > 0.5 * usual:
        return None
    return Symptom(
        f"column t of the logits scores the token of column t{1 + best:+d}, not t+1",
        "loss",
        {"places_off": best, "unexplained_frac": usual, "unexplained_there_frac": by_place[best]},
    )
