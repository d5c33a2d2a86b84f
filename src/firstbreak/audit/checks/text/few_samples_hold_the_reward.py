"""The check `few-samples-hold-the-reward`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ....preflight.reward.measures import top_share
from ....stats import mad
from ...judgement.gate import needs_rewards
from ...judgement.paid import column
from ...table import Table

LEAST = 100
KINDS = 5
"""Different rewards below which there is no tail: a verifier's 0 and 1. Engineering default."""
SHARE = 0.3
"""0.03 for a Gaussian, 0.08 for an exponential. Engineering default."""
FAR = 20.0
"""Spreads; a Gaussian's farthest of a million lies 5 out. Engineering default."""


@check(
    "AUD004",
    "few-samples-hold-the-reward",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Read the samples named; put a limit to each term of the reward.",
)
def look(table: Table) -> Answer:
    """A handful of samples have rewards so far out that they decide what is learnt.

    What is measured:
        The share that the 1 % farthest rewards have in all distances from the median, and how many spreads (median
        absolute deviation, or a quarter of the range where half of the rewards are equal) the farthest lies away.

    Why it hurts:
        Advantages are divided by a spread that these few make; all others look alike.

    Usual causes:
        A term without limit, such as a count or a logarithm of a probability; a scorer that read a number out of the
        answer.

    What to try:
        Look at the top and bottom samples; clip or bound the term that made them.

    When it is harmless:
        When rewards are rare events and the few are the right answers.

    References:
        Huber & Ronchetti 2009, Robust Statistics, section 1.2.
    """
    skip = needs_rewards(table, LEAST)
    if skip is not None:
        return skip
    reward = column(table, "reward")
    reward = reward[np.isfinite(reward)]
    if np.unique(reward).size < KINDS:
        return None
    share, spread = top_share(reward), mad(reward)
    if spread == 0 or share < SHARE:
        return None
    farthest = float(np.max(np.abs(reward - np.median(reward)))) / spread
    if farthest < FAR:
        return None
    return Symptom(
        f"1 % of the samples hold {100 * share:.0f} % of the spread; the farthest lies {farthest:.3g} spreads out",
        "reward",
        {
            "top_share_frac": share,
            "farthest_spreads": farthest,
            "median": float(np.median(reward)),
            "lowest": float(reward.min()),
            "highest": float(reward.max()),
        },
    )
