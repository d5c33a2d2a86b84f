"""The check `reward-against-people`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ...judgement.gate import needs_people, needs_rewards, too_few_judged
from ...judgement.paid import column, rank_bounds, unchosen
from ...table import Table

LEAST = 50
"""Pairs; the correlation is then known to 0.28. Engineering default."""
UNRELATED = 0.1
"""Upper bound of the correlation below which the reward says next to nothing: a small effect of Cohen 1988."""


@check(
    "AUD005",
    "reward-against-people",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Stop and read the best paid samples: what training makes more of is what people reject.",
)
def look(table: Table) -> Answer:
    """Over all samples the reward ranks against people's scores, or has nothing to do with them.

    What is measured:
        Spearman's correlation between reward and human score (or success of the task), with its 95 % interval.

    Why it hurts:
        Training raises the reward, so it lowers what people want.

    Usual causes:
        A sign error; scores that mean the place in a ranking; a judge that has been fooled; labels of another file.

    What to try:
        Read the ten best and the ten worst paid samples beside the human scores.

    When it is harmless:
        When the scores judge another quality, such as safety, which is allowed to cost helpfulness.

    References:
        Gao, Schulman & Hilton 2022, arXiv 2210.10760; Amodei et al. 2016, arXiv 1606.06565.
    """
    skip = needs_rewards(table) or needs_people(table)
    if skip is not None:
        return skip
    reward, people = column(table, "reward"), unchosen(table)
    both = np.isfinite(reward) & np.isfinite(people)
    if both.sum() < LEAST:
        return too_few_judged(table, int(both.sum()), LEAST)
    if np.ptp(reward[both]) == 0 or np.ptp(people[both]) == 0:
        return Skip("reward or human score does not vary")
    rho, low, high = rank_bounds(reward[both], people[both])
    if high >= UNRELATED:
        return None
    against = high < 0
    told = "ranks against" if against else "does not follow"
    return Symptom(
        f"the reward {told} people's scores: rank correlation {rho:.2f}, at most {high:.2f}",
        "reward",
        {"rank_correlation": rho, "low": low, "high": high, "samples": int(both.sum())},
        severity=Severity.ERROR if against else Severity.WARNING,
    )
