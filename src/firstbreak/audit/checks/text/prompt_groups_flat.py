"""The check `prompt-groups-flat`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ....preflight.reward.measures import fraction_interval
from ...judgement.gate import needs_rewards
from ...judgement.groups import dense
from ...judgement.paid import column
from ...table import Table

LEAST_GROUPS = 16
SOLVED = 0.9
"""Share of the flat groups at the highest reward from which they are prompts solved. Engineering default."""
HALF = 0.5
"""Lower bound from which it is a finding: then more than half of all samples give no gradient. Engineering default."""


@check(
    "AUD003",
    "prompt-groups-flat",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Choose prompts of middling difficulty, or draw again until a group has right and wrong answers.",
    explained_by=("sample-rewards-all-equal",),
)
def look(table: Table) -> Answer:
    """Most groups of rival answers earn the same, so their advantages are 0.

    What is measured:
        The share of prompts with several answers whose rewards are all equal, with Wilson's interval, split into groups
        at the lowest, at the highest and at some other reward of the samples.

    Why it hurts:
        Such groups cost sampling and scoring and teach nothing; the real batch shrinks.

    Usual causes:
        Prompts that are too hard (all wrong) or too easy (all right); a temperature near 0; a coarse scorer.

    What to try:
        All wrong: easier prompts, a finer score, more samples. All right: harder prompts. Then draw again (dynamic
        sampling).

    When it is harmless:
        A third of such groups is usual. Where nearly all of them earn the highest reward the task is solved, and the
        finding is a note: that is waste, not a fault.

    References:
        Yu et al. 2025 (DAPO), arXiv 2503.14476, section 3.2.
    """
    skip = needs_rewards(table)
    if skip is not None:
        return skip
    reward, index = column(table, "reward"), dense(table.group)
    good = np.isfinite(reward)
    size = np.bincount(index[good], minlength=int(index.max()) + 1)
    low, high = np.full(size.size, np.inf), np.full(size.size, -np.inf)
    np.minimum.at(low, index[good], reward[good])
    np.maximum.at(high, index[good], reward[good])
    rivals = size >= 2
    groups = int(rivals.sum())
    if groups < LEAST_GROUPS:
        return Skip(
            f"only {groups} prompts have several answers, {LEAST_GROUPS} are needed",
            ("more prompts with several answers",),
        )
    flat = rivals & (low == high)
    bound = fraction_interval(int(flat.sum()), groups)
    if bound[0] <= HALF:
        return None
    # Where every prompt earns as much, nothing says whether that is the lowest reward or the highest.
    split = bool(low.min() < high.max())
    wrong, right = (int((flat & (edge == at)).sum()) * split for edge, at in ((low, low.min()), (high, high.max())))
    how = f"{wrong} lowest, {right} highest" if split else "the same reward everywhere"
    return Symptom(
        f"{100 * flat.sum() / groups:.0f} % of {groups} prompts earn all the same: {how}",
        "reward",
        {
            "flat_frac": float(flat.sum()) / groups,
            "low_frac": bound[0],
            "high_frac": bound[1],
            "prompts": groups,
            "all_lowest": wrong,
            "all_highest": right,
            "all_between": int(flat.sum()) - wrong - right,
        },
        severity=Severity.INFO if split and right >= SOLVED * flat.sum() else None,
    )
