"""The check `failed-episodes-paid`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ....preflight.reward.measures import fraction_interval
from ...episodes.gate import FEWEST, column, no_calls, paid, percent
from ...table import Table

LIMIT_FRAC = 0.05
"""Lower bound of the share of paid episodes. Engineering default: room for a noisy judge."""


@check(
    "AUD111",
    "failed-episodes-paid",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Take the reward from the final state; use text scores only as a small addition.",
)
def look(table: Table) -> Answer:
    """Episodes are paid in full although the environment says that they failed.

    What is measured:
        Among episodes with a reward above the middle of its range, the share that did not succeed; with
        Wilson's interval; and how many of these changed nothing at all.

    Why it hurts:
        The reward is earned by something else than the task, and that is what will be learned.

    Usual causes:
        Reward from the last message (`completed`); a substring verifier; a process reward larger than the
        outcome.

    What to try:
        Sort by reward and read the highest paid failures; name what was paid for.

    When it is harmless:
        When the reward is meant to pay partial progress above half of its range.
    """
    skip = no_calls(table)
    if skip is not None:
        return skip
    high_reward, success = paid(table), column(table, "success")
    if high_reward is None or not np.isfinite(success).any():
        return Skip("reward or success is not logged, or all rewards are alike", ("reward", "success"))
    known = (high_reward == 1) & np.isfinite(success)
    if known.sum() < FEWEST:
        return Skip(f"only {int(known.sum())} paid episodes, {FEWEST} are needed", ("more samples",))
    wrong = known & (success == 0)
    n, found = int(known.sum()), int(wrong.sum())
    low, high = fraction_interval(found, n)
    if low <= LIMIT_FRAC:
        return None
    still = int((column(table, "agent/changes")[wrong] == 0).sum())
    return Symptom(
        f"{percent(found / n)} of {n} paid episodes did not succeed; in {still} of them the state never changed",
        "reward",
        {"paid": n, "failed": found, "unchanged": still, "low_frac": low, "high_frac": high},
        severity=Severity.ERROR if low > 0.25 else None,
    )
