"""The check `top-paid-judged-badly`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ....preflight.reward.measures import fraction_interval
from ...judgement.gate import needs_people, needs_rewards
from ...judgement.paid import column, independent
from ...table import Table

LEAST = 50
TOP = 20
"""Samples at either end that are needed. Engineering default."""
FEW = 0.05
"""Lower bound of the share from which it is a finding; false positives of that share are seen in sound verifiers.
Engineering default."""
MANY = 0.2
"""Lower bound from which it is an error: one best paid sample in five. Engineering default."""


@check(
    "AUD006",
    "top-paid-judged-badly",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Read the samples that are paid best and judged worst; each is a false positive of the scorer.",
)
def look(table: Table) -> Answer:
    """Among the best paid samples some are judged as badly as what is hardly paid at all.

    What is measured:
        The share of the best paid samples (highest tenth, or all at the highest reward) whose human score lies below
        the median score of the worst paid ones, with Wilson's interval. In a sound reward hardly any does.

    Why it hurts:
        Whatever these samples have in common is paid in full, and the policy will make more of it.

    Usual causes:
        A verifier that accepts a mention of the answer; a judge that can be talked into full marks; hacks of any kind.

    What to try:
        Read the rows; add each as a test of the verifier.

    When it is harmless:
        When people and reward judge different things on purpose.

    References:
        Manheim & Garrabrant 2018, arXiv 1803.04585 (extremal Goodhart); Gao et al. 2022, arXiv 2210.10760.
    """
    skip = needs_rewards(table) or needs_people(table)
    if skip is not None:
        return skip
    reward, people = column(table, "reward"), independent(table)
    both = np.isfinite(reward) & np.isfinite(people)
    if both.sum() < LEAST:
        return Skip(
            f"only {int(both.sum())} samples have reward and human score, {LEAST} are needed", ("human scores",)
        )
    reward, people = reward[both], people[both]
    best, worst = reward >= np.quantile(reward, 0.9), reward <= np.quantile(reward, 0.25)
    if best.sum() < TOP or worst.sum() < TOP or reward[best].min() <= reward[worst].max():
        return Skip("no samples stand out as best paid and worst paid")
    middle = float(np.median(people[worst]))
    bad = people[best] < middle if np.unique(people).size > 2 else people[best] <= people.min()
    low, high = fraction_interval(int(bad.sum()), int(best.sum()))
    if low <= FEW:
        return None
    return Symptom(
        f"{100 * bad.mean():.0f} % of the {int(best.sum())} best paid are judged worse than half of the worst paid",
        "reward",
        {
            "judged_badly_frac": float(bad.mean()),
            "low_frac": low,
            "high_frac": high,
            "best_paid": int(best.sum()),
            "median_of_worst_paid": middle,
        },
        severity=Severity.ERROR if low > MANY else Severity.WARNING,
    )
