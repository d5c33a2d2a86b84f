"""The check `rivals-identical`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ....preflight.reward.measures import fraction_interval
from ...judgement.groups import dense
from ...judgement.paid import column
from ...table import Table

LEAST = 30
SHORT_WORDS = 8
MANY = 0.3
"""Lower bound of the share. Engineering default."""


@check(
    "AUD010",
    "rivals-identical",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    fix="Raise the temperature, or look for a cache that gives one answer to all rivals.",
)
def look(table: Table) -> Answer:
    """Many answers to a prompt are word for word the same.

    What is measured:
        The share of samples that equal another answer to the same prompt, with Wilson's interval.

    Why it hurts:
        Rivals that are equal teach nothing about one another, and pass@k is pass@1.

    Usual causes:
        Temperature 0 or a seed per request; a prefix cache that returns whole answers; a collapsed policy.

    What to try:
        Draw again with temperature 1 and compare; look at the sampler's seed.

    When it is harmless:
        When the answer is one word or one number.

    References:
        Yue et al. 2025, arXiv 2504.13837 (pass@k of trained policies); Cui et al. 2025, arXiv 2505.22617.
    """
    if table.response.size != table.n:
        return Skip("the table holds no fingerprints of the answers")
    size = np.bincount(dense(table.group))
    rivals = int(size[size >= 2].sum())
    if rivals < LEAST:
        return Skip("hardly any prompt has several answers", ("more prompts with several answers",))
    words = column(table, "text/words")
    if np.nanmedian(words) < SHORT_WORDS if np.isfinite(words).any() else False:
        return Skip("answers are so short that equal ones prove nothing")
    both = np.stack((table.group, table.response), axis=1)
    _, where, count = np.unique(both, axis=0, return_inverse=True, return_counts=True)
    twin = count[where.reshape(-1)] >= 2
    low, high = fraction_interval(int(twin.sum()), rivals)
    if low <= MANY:
        return None
    return Symptom(
        f"{100 * twin.sum() / rivals:.0f} % of the answers equal another answer to the same prompt",
        "response",
        {"equal_frac": float(twin.sum()) / rivals, "low_frac": low, "high_frac": high, "samples": rivals},
    )
