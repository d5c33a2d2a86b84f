"""The check `top-paid-judged-badly`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ....preflight.reward.measures import fraction_interval
from ...judgement.gate import needs_people, needs_rewards, too_few_judged
from ...judgement.groups import Floats
from ...judgement.paid import column, unchosen
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
        the median score of the worst paid ones, with Wilson's interval. In a sound reward hardly any does. Where the
        score has two values, the share that fails: of those with full marks, or, of graded rewards, where they fail
        more often than the worst paid. Where nobody passes at all it is a warning at most.

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
    reward, people = column(table, "reward"), unchosen(table)
    both = np.isfinite(reward) & np.isfinite(people)
    if both.sum() < LEAST:
        return too_few_judged(table, int(both.sum()), LEAST)
    reward, people = reward[both], people[both]
    best, worst = reward >= np.quantile(reward, 0.9), reward <= np.quantile(reward, 0.25)
    if best.sum() < TOP or worst.sum() < TOP or reward[best].min() <= reward[worst].max():
        return Skip("no samples stand out as best paid and worst paid")
    judged = _judged(people[best], people[worst], full_marks=bool(np.ptp(reward[best]) == 0))
    if judged is None:
        return None
    bad, told = judged
    low, high = fraction_interval(int(bad.sum()), bad.size)
    if low <= FEW:
        return None
    flat = bool(np.ptp(people) == 0)
    return Symptom(
        f"{100 * bad.mean():.0f} % of the {bad.size} best paid {told}" + ("; so is every other sample" if flat else ""),
        "reward",
        {
            "judged_badly_frac": float(bad.mean()),
            "low_frac": low,
            "high_frac": high,
            "best_paid": int(bad.size),
            "median_of_worst_paid": float(np.median(people[worst])),
        },
        severity=Severity.ERROR if low > MANY and not flat else Severity.WARNING,
    )


def _judged(best: Floats, worst: Floats, *, full_marks: bool) -> tuple[NDArray[np.bool_], str] | None:
    """Return which of the best paid are judged badly and how to say it; None where that proves nothing.

    A score of two values has no middle: a failure among full marks is a false positive, but the best of graded rewards
    may well fail while hardly anything succeeds, and count only where they fail more often than the worst paid do.
    """
    every = np.concatenate((best, worst))
    if np.unique(every).size > 2:
        return best < np.median(worst), "are judged worse than half of the worst paid"
    bad = best <= every.min()
    fails_more = fraction_interval(int(bad.sum()), bad.size)[0] > float((worst <= every.min()).mean())
    if not (full_marks or fails_more or np.ptp(every) == 0):
        return None
    return bad, "have the lowest score of the independent judge"
