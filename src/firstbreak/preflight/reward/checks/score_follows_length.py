"""The check `score-follows-length`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ....stats import mean_interval, rank_correlation
from ..gate import too_few
from ..sample import RewardSample

STRONG = 0.5
"""Lower bound of the mean rank correlation within prompts from which length decides most rankings."""
LEAST_GROUPS = 16
LEAST_ROWS = 3


@check(
    "PRW014",
    "score-follows-length",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Score at equal length: subtract what length explains, or put a limit to what length can earn.",
)
def look(sample: RewardSample) -> Answer:
    """Within prompts, the longer answer gets the higher score.

    What is measured:
        The mean over groups of Spearman's correlation between score and length, with its 95 % interval, and the share
        of groups whose longest answer wins. Differences between prompts do not count: hard questions need more words.

    Why it hurts:
        The policy learns to be long. In published runs 70 to 90 % of the gain in reward was length.

    Usual causes:
        A sum over tokens instead of a mean; a judge that likes detail; a bonus per step of reasoning.

    What to try:
        Compare scores in bins of equal length; train against a score of length alone as a control.

    When it is harmless:
        When longer answers are really better for all these prompts, and people say so.

    References:
        Singhal et al. 2023, arXiv 2310.03716.
    """
    if sample.length is None or not sample.groups:
        return Skip("no lengths of answers in groups")
    skip = too_few(sample)
    if skip is not None:
        return skip
    usable = [
        g for g in sample.groups
        if g.size >= LEAST_ROWS and np.ptp(sample.length[g]) > 0 and np.ptp(sample.rewards[g]) > 0
    ]  # fmt: skip
    if len(usable) < LEAST_GROUPS:
        return Skip(f"only {len(usable)} groups vary in score and length, {LEAST_GROUPS} are needed", ("more groups",))
    found = np.array([_within(sample.length[g], sample.rewards[g]) for g in usable])
    mean, low, high = mean_interval(found)
    if low < STRONG:
        return None
    wins = float(np.mean([sample.rewards[g][np.argmax(sample.length[g])] == sample.rewards[g].max() for g in usable]))
    return Symptom(
        f"score follows length within groups: rank correlation {mean:.2f}, "
        f"the longest answer wins in {100 * wins:.0f} %",
        "reward",
        {"rank_correlation": mean, "low": low, "high": high, "longest_wins_frac": wins, "groups": len(usable)},
    )


def _within(length: np.ndarray, rewards: np.ndarray) -> float:
    """Spearman's correlation; three pairs are doubled, which changes no ranks' order and no correlation."""
    if length.size < 4:
        length, rewards = np.tile(length, 2), np.tile(rewards, 2)
    return rank_correlation(length, rewards)
