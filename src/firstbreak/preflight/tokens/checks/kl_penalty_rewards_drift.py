"""Moving away from the reference is rewarded."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import TokenBench, skips
from ..sequences import token_rewards


@check(
    "TOK102",
    "kl-penalty-rewards-drift",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Subtract the KL penalty from the reward: - beta (log p - log p_ref).",
)
@skips
def look(bench: TokenBench) -> Answer:
    """Moving away from the reference is rewarded.

    Measured: the token rewards when the reference log-probs lie 0.5 nats below the policy's, against those with
    both equal.

    Why it hurts: the policy leaves the reference as fast as it can.

    Usual causes: a sign lost between penalty and reward; log-probs exchanged.

    What to try: log the mean KL reward: it must be negative on average.

    Harmless: never.
    """
    if not float(bench.setting("kl_coef")):
        return Skip("there is no KL penalty")
    if bench.pieces.settings.get("kl_in") != "reward":
        return Skip("the KL is not in the reward")
    found = bench.once(token_rewards)
    change = float((found.drifted - found.plain)[found.mask].mean())
    if change <= 0:
        return None
    return Symptom(
        f"0.5 nats away from the reference pay {change:+.2g} for each token",
        "token_rewards",
        {"reward_by_token": change},
    )
