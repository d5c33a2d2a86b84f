"""The check `reward-part-dominates`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ....stats import rank_correlation
from ..measures import constant, covariance_shares
from ..parts import added_up, usable_parts
from ..sample import RewardSample

MOST = 0.9
"""Covariance share from which the other parts together decide less than a tenth."""
AGREES = 0.5
"""Rank correlation of the part with a task metric from which its dominance is the purpose."""


@check(
    "PRW020",
    "reward-part-dominates",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Weigh the parts by their spread, not their mean; or remove the one that dominates and see what is learnt.",
)
def look(sample: RewardSample) -> Answer:
    """One component carries nearly all the variance of the reward, so the others do not count.

    What is measured:
        The covariance share Cov(part, reward) / Var(reward) of each part; the shares add up to 1. A large constant part
        has no share. From random play, or when the part goes with the task metric, it is a note: a control cost is
        meant to be small, and random play does not show the weights at work.

    Why it hurts:
        The policy learns that one part. If it is the format and not the answer, that is what you get.

    Usual causes:
        Weights set by the size of the parts' means; one part in other units; a bonus ten times the score.

    What to try:
        Train with this part removed, and with it alone.

    When it is harmless:
        When the part is the task and the others are side conditions.

    References:
        Engineering default of 0.9; component shares as in the covariance decomposition of a sum.
    """
    parts = usable_parts(sample, 2)
    if isinstance(parts, Skip):
        return parts
    if constant(sample.rewards):
        return Skip("the reward does not vary")
    made = added_up(sample)
    if made is None or not made.adds_up:
        return Skip("the parts do not add up to the reward, so their shares cannot be told")
    weights = made.weights
    shares = covariance_shares({k: weights[k] * v for k, v in parts.items()}, sample.rewards)
    name = max(shares, key=lambda k: shares[k])
    if not shares[name] > MOST:
        return None
    meant = any(rank_correlation(*_both(weights[name] * parts[name], j.values)) > AGREES for j in sample.judges)
    rest = {f"{k}_share_frac": v for k, v in sorted(shares.items(), key=lambda kv: -kv[1])[:6]}
    return Symptom(
        f"component {name[:40]} dominates: {100 * shares[name]:.0f} % of the reward's variance",
        f"reward.{name}",
        {"component": name, **rest},
        severity=Severity.INFO if sample.played or meant else None,
    )


def _both(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    kept = np.isfinite(x) & np.isfinite(y)
    return x[kept], y[kept]
