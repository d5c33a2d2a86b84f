"""The check `group-ranking-disagrees`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ...across.agreement import agreement
from ...judgement.gate import needs_people, needs_rewards
from ...judgement.paid import column
from ...table import Table

LEAST_GROUPS = 12
COIN = 0.6
"""Upper bound below which a ranking is little better than a coin; labellers agree with one another in 65 to 77 % of
pairs (Ouyang et al. 2022, section 3.4)."""


@check(
    "AUD007",
    "group-ranking-disagrees",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Compare pairs of answers to one prompt by hand; train on no ranking that people would not sign.",
    explained_by=("sample-rewards-all-equal",),
)
def look(table: Table) -> Answer:
    """Within prompts the reward ranks answers hardly better than a coin, by people's scores or success of the task.

    What is measured:
        Of the pairs of answers to one prompt that people order (without their scores: of which one succeeded), the
        share that the reward orders alike, a tie of the reward counting half, with a 95 % interval bootstrapped by
        prompt.

    Why it hurts:
        Advantages are differences within a prompt. A reward that knows hard prompts from easy ones, but not good
        answers from bad ones, looks fine over all samples and teaches noise.

    Usual causes:
        A score of the prompt rather than of the answer; noise of the judge; style that outweighs content.

    What to try:
        Judge pairs instead of single answers; average several judgements.

    When it is harmless:
        When people's own agreement on such pairs is no better.

    References:
        Lambert et al. 2024 (RewardBench), arXiv 2403.13787; Ouyang et al. 2022, arXiv 2203.02155, section 3.4.
    """
    skip = needs_rewards(table) or needs_people(table)
    if skip is not None:
        return skip
    by_people = bool(np.isfinite(column(table, "human")).any())
    found = agreement(table, "human" if by_people else "success")
    if found is None or found.groups < LEAST_GROUPS:
        return Skip(
            f"only {found.groups if found else 0} prompts have answers that people rank, {LEAST_GROUPS} are needed",
            ("human scores of several answers per prompt",),
        )
    if found.right_high >= COIN:
        return None
    judge = "people" if by_people else "success of the task"
    return Symptom(
        f"reward and {judge} order {100 * found.right_frac:.0f} % of the pairs within prompts alike "
        f"(at most {100 * found.right_high:.0f} %)",
        "reward",
        {
            "agreement_frac": found.right_frac,
            "low_frac": found.right_low,
            "high_frac": found.right_high,
            "tau_b": found.tau_b,
            "pairs": found.pairs,
            "prompts": found.groups,
        },
        severity=Severity.ERROR if found.right_high < 0.5 else Severity.WARNING,
    )
