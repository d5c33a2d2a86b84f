"""The check `reward-opposes-reference`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gate import too_few
from ..judging import agreements
from ..sample import RewardSample

CLEAR = -0.2
"""Upper bound of the correlation under which the direction is certain, and not one of several purposes."""


@check(
    "PRW009",
    "reward-opposes-reference",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Read ten samples with high and ten with low reward; then turn the sign, or the labels.",
)
def look(sample: RewardSample) -> Answer:
    """The reward falls where the reference score or the task metric rises: its sign is confused.

    What is measured:
        Spearman's correlation with every reference and metric, and its 95 % bootstrap interval. Names such as
        `distance`, `error` or `cost` are read as lower-is-better. Per episode a metric counts by its mean, its last
        value and its change; it contradicts the reward only if all three do. In a table an error when the upper bound
        lies below -0.2, otherwise a warning.

    Why it hurts:
        Training then makes the policy worse, smoothly, while loss and KL look healthy.

    Usual causes:
        Cost instead of reward; chosen and rejected swapped; labels 0 and 1 swapped; a distance that is not negated.

    What to try:
        Read samples at both ends. Compare an expert with random play under the same reward.

    When it is harmless:
        When the reference measures something else on purpose, such as the price of an answer; or when less of it is
        better and its name does not say so.

    References:
        Spearman 1904; AnimalAI-Olympics issue 22 (reward with the wrong sign).
    """
    if not sample.judges:
        return Skip("no reference score or task metric", ("reference score", "task metric"))
    skip = too_few(sample)
    if skip is not None:
        return skip
    found = agreements(sample)
    if not found:
        return Skip("reward or reference does not vary over 30 pairs", ("more scored samples",))
    worst = min(found, key=lambda a: a.high)
    if worst.high >= 0:
        return None
    certain = worst.high < CLEAR and not sample.played
    return Symptom(
        f"sign confusion: reward falls as {worst.judge[:30]} gets better, rank correlation {worst.rho:.2f} "
        f"({worst.low:.2f} to {worst.high:.2f})",
        "reward",
        {"rank_correlation": worst.rho, "low": worst.low, "high": worst.high, "pairs": worst.pairs,
         "judge": worst.judge, "view": worst.how},
        severity=Severity.ERROR if certain else None,
    )  # fmt: skip
