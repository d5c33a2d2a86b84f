"""The check `reward-always-zero`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..gate import too_few
from ..sample import RewardSample

SURE = 100
"""Episodes or samples of a table from which on silence is an error: with a success rate of 3 % one of them would have
paid with probability 0.95 (rule of three)."""


@check(
    "PRW002",
    "reward-always-zero",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Check that the scorer is reached and can pay; then add intermediate rewards, a curriculum or demonstrations.",
)
def look(sample: RewardSample) -> Answer:
    """Every reward is exactly 0, so there is nothing to learn from.

    What is measured:
        The largest |reward|. In a table of 100 or more episodes or samples an error; from random play a warning, since
        a task may be sparse by design and only a better policy would show it.

    Why it hurts:
        All advantages are 0: the policy gradient is silent, and the values fit a constant.

    Usual causes:
        A scorer that is not called, looks for an answer format nobody uses, or turns an exception into 0; a key that
        is misspelt; a goal out of reach; a task that is too hard for the policy that collected the data.

    What to try:
        Score a hand-made sample that must earn a reward. If it does: in this order potential-based shaping, easier
        starts, demonstrations. Without any success in n episodes the rate is below 3/n (95 %).

    When it is harmless:
        Random play on a task that is sparse by design, when the trainer has demonstrations or an exploration bonus.

    References:
        Hanley & Lippman-Hand 1983, JAMA 249 (rule of three); Ng, Harada & Russell 1999 (shaping).
    """
    skip = too_few(sample)
    if skip is not None:
        return skip
    if sample.rewards.any():
        return None
    count = int(sample.returns.size)
    sure = not sample.played and count >= SURE
    return Symptom(
        f"all {sample.rewards.size} rewards of {count} {sample.unit} are 0: nothing to learn from",
        "reward",
        {"rewards": int(sample.rewards.size), sample.unit: count, "success_rate_below_frac": 3.0 / count},
        severity=Severity.ERROR if sure else None,
    )
