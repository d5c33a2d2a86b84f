"""The check `reward-unrelated-to-reference`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gate import too_few
from ..judging import agreements
from ..sample import RewardSample

WEAK = 0.3
"""Upper bound of the rank correlation under which the reward shares less than a tenth of the variance of ranks."""


@check(
    "PRW010",
    "reward-unrelated-to-reference",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Rewrite the reward, or calibrate it on samples that people have scored.",
    explained_by=("reward-opposes-reference",),
)
def look(sample: RewardSample) -> Answer:
    """The reward has next to nothing to do with the human or reference score.

    What is measured:
        Spearman's correlation with every reference and metric, and its 95 % bootstrap interval: it fires when the upper
        bound is below 0.3. Ties and different scales do no harm. From random play it is a note: a random policy may
        never come where the metric moves.

    Why it hurts:
        What is optimised is not what is wanted; the more it is optimised, the further apart they drift.

    Usual causes:
        A proxy that measures style; a judge without the question; rows that were joined in the wrong order.

    What to try:
        Check the join with ten rows by hand. Then measure how well two people agree with one another: no reward can do
        better than that.

    When it is harmless:
        When the reference covers another part of the task; when its own noise hides what it says.

    References:
        Gao, Schulman & Hilton 2022, arXiv 2210.10760; Lambert et al. 2024, arXiv 2403.13787.
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
    if worst.high < 0 or worst.high >= WEAK:
        unsure = worst.low < WEAK and worst.high - worst.low > 0.5
        return Skip(f"{worst.pairs} pairs leave the correlation open", ("more scored samples",)) if unsure else None
    return Symptom(
        f"rank correlation of reward and {worst.judge[:30]} is {worst.rho:.2f} ({worst.low:.2f} to {worst.high:.2f}), "
        f"{worst.pairs} pairs",
        "reward",
        {"rank_correlation": worst.rho, "low": worst.low, "high": worst.high, "pairs": worst.pairs,
         "judge": worst.judge, "view": worst.how},
        severity=Severity.INFO if sample.played else None,
    )  # fmt: skip
