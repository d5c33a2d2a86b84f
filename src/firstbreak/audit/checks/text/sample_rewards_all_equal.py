"""The check `sample-rewards-all-equal`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ...judgement.gate import needs_rewards
from ...judgement.paid import column
from ...table import Table


@check(
    "AUD002",
    "sample-rewards-all-equal",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Score a right and a wrong answer by hand: the scorer must tell them apart.",
)
def look(table: Table) -> Answer:
    """Every sample has the same reward, so nothing can be learnt from any of them.

    What is measured:
        Whether all finite rewards are one and the same number, over at least 30 samples.

    Why it hurts:
        Every advantage is 0; only regularisers move the policy.

    Usual causes:
        A scorer that never matches (a wrong answer key or format), or always; a default returned by an exception
        handler.

    What to try:
        Put one known right and one known wrong answer through the scorer.

    When it is harmless:
        When the file was filtered to right answers.

    References:
        None; the check reads off a definition.
    """
    skip = needs_rewards(table)
    if skip is not None:
        return skip
    reward = column(table, "reward")
    reward = reward[np.isfinite(reward)]
    if np.ptp(reward) > 0:
        return None
    return Symptom(
        f"all {reward.size} samples have the reward {reward[0]:.3g}",
        "reward",
        {"samples": int(reward.size), "reward": float(reward[0])},
    )
