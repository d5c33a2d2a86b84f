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
        Spearman's correlation with every reference and metric, and its 95 % bootstrap interval. Per episode a metric
        counts by its mean, its last value and its change; it contradicts the reward only if all three do. In a table
        an error when the upper bound lies below -0.2, otherwise a warning. `--metric-direction` says which way is
        better; else names such as `distance`, `error` or `cost` are taken as less-is-better, and names that say
        nothing as more-is-better: that is a guess, the message says so, and it is never more than a warning.

    Why it hurts:
        Training then makes the policy worse, smoothly, while loss and KL look healthy.

    Usual causes:
        Cost instead of reward; chosen and rejected swapped; labels 0 and 1 swapped; a distance that is not negated.

    What to try:
        Read samples at both ends. Compare an expert with random play under the same reward.

    When it is harmless:
        When the reference measures something else on purpose, such as the price of an answer; or when its name
        misleads: a `distance` travelled, of which more is better. Then say so with `--metric-direction`.

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
    certain = worst.high < CLEAR and not sample.played and not worst.guessed
    rho, low, high = (-worst.rho, -worst.high, -worst.low) if worst.flipped else (worst.rho, worst.low, worst.high)
    name = worst.judge[:30]
    way = "less" if worst.flipped else "more"
    guessed = f"sign confused, if {way} {name} is better ({'a guess from its name' if worst.flipped else 'assumed'}):"
    known = f"sign confusion: reward {'rises' if worst.flipped else 'falls'} with {name}, of which {way} is better:"
    return Symptom(
        f"{guessed if worst.guessed else known} rank correlation {rho:.2f} ({low:.2f} to {high:.2f})",
        "reward",
        {"rank_correlation": worst.rho, "low": worst.low, "high": worst.high, "pairs": worst.pairs,
         "judge": worst.judge, "view": worst.how, "less_taken_as_better": worst.flipped,
         "direction_guessed": worst.guessed},
        severity=Severity.ERROR if certain else None,
    )  # fmt: skip
