"""The check `groups-without-spread`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gate import too_few
from ..measures import fraction_interval
from ..sample import RewardSample

LEAST_GROUPS = 16
HALF = 0.5
"""Lower bound from which it is a warning: more than half of the samples then give no gradient at all."""
ROUNDING = 0.01
"""Scores of a group that differ by less than this share of the spread of all are equal: divided by the group's own
spread such noise would count as much as a right answer beside a wrong one."""


@check(
    "PRW005",
    "groups-without-spread",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Choose prompts of middling difficulty, or draw again until a group has both right and wrong answers.",
    explained_by=("reward-always-zero", "reward-saturated"),
)
def look(sample: RewardSample) -> Answer:
    """Most groups of rival samples have equal scores, so their advantages are all 0.

    What is measured:
        The share of groups (prompts) whose scores are all the same, or differ by less than 1 % of the spread of all
        scores, with Wilson's interval, and how many of them sit at the lowest and at the highest score.

    Why it hurts:
        Advantages relative to the group are 0: the samples were paid for and teach nothing, and the real batch shrinks.

    Usual causes:
        Prompts that are too easy or too hard; too few samples per prompt; a temperature near 0; a coarse scorer.

    What to try:
        Look at the split: all wrong asks for easier prompts or a finer score, all right for harder prompts. Then larger
        groups, and drawing again (dynamic sampling).

    When it is harmless:
        A third of such groups is usual; with dynamic sampling more are only a cost.

    References:
        Yu et al. 2025 (DAPO), arXiv 2503.14476, section 3.2.
    """
    if not sample.groups:
        return Skip("the rewards are not in groups")
    skip = too_few(sample)
    if skip is not None:
        return skip
    if len(sample.groups) < LEAST_GROUPS:
        return Skip(f"only {len(sample.groups)} groups, {LEAST_GROUPS} are needed", ("more groups",))
    least = ROUNDING * float(np.std(sample.rewards))
    flat = [sample.rewards[rows[0]] for rows in sample.groups if np.ptp(sample.rewards[rows]) <= least]
    low, high = fraction_interval(len(flat), len(sample.groups))
    if low <= HALF:
        return None
    lowest, highest = float(sample.rewards.min()), float(sample.rewards.max())
    bottom, top = sum(v == lowest for v in flat), sum(v == highest for v in flat)
    split = f"{bottom} all at {lowest:.3g}" + (f", {top} all at {highest:.3g}" if highest > lowest else "")
    if 2 * (bottom + top) < len(flat):
        split = f"differences of up to {least:.2g}, the spread of all is {least / ROUNDING:.2g}"
    return Symptom(
        f"{100 * len(flat) / len(sample.groups):.0f} % of {len(sample.groups)} groups have equal scores: {split}",
        "reward",
        {"flat_frac": len(flat) / len(sample.groups), "low_frac": low, "high_frac": high,
         "groups": len(sample.groups), "all_lowest": int(bottom), "all_highest": int(top)},
    )  # fmt: skip
