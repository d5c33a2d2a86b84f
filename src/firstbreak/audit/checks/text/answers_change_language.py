"""The check `answers-change-language`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ....preflight.reward.measures import fraction_interval
from ...judgement.gate import needs
from ...judgement.paid import answer, column
from ...table import Table

MUCH = 0.2
FEW = 0.02
LEAST = 10
"""Share of an answer's letters, lower bound of the share of answers, and answers. Engineering defaults."""


@check(
    "AUD031",
    "answers-change-language",
    link=Link.POLICY_UPDATE,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Add a term for the prompt's language, or an anchor to the reference policy.",
)
def look(table: Table) -> Answer:
    """Answers fall into another script or language than their prompt's.

    What is measured:
        Answers with a fifth or more of their letters in scripts that the prompt does not use, or in another language
        where both can be told; their share with Wilson's interval, and what they earn.

    Why it hurts:
        The reward reads only the final answer, so that the way there may be in any mixture of tongues; people cannot
        read it.

    Usual causes:
        RL on verifiable rewards without a language term; a pretrained mixture that thinks in another language.

    What to try:
        Count by step; reward consistency of language; a little KL to the reference.

    When it is harmless:
        In translation, in prompts that ask for another language, and in prompts with no word of their own.

    References:
        Guo et al. 2025 (DeepSeek-R1), arXiv 2501.12948, section 2.3.2 (language mixing and consistency reward).
    """
    skip = needs(table, "text/foreign_script_frac")
    if skip is not None:
        return skip
    foreign = (column(table, "text/foreign_script_frac") >= MUCH) | (column(table, "text/other_language") == 1)
    judged = int(np.isfinite(column(table, "text/foreign_script_frac")).sum())
    low, high = fraction_interval(int(foreign.sum()), judged)
    if low <= FEW or foreign.sum() < LEAST:
        return None
    pays = answer(table, foreign, "answers in another language", "text/foreign_script_frac")
    if isinstance(pays, Symptom):
        return pays
    return Symptom(
        f"{100 * foreign.sum() / judged:.0f} % of the answers are in another script or language than their prompt",
        "text/foreign_script_frac",
        {"drifted_frac": float(foreign.sum() / judged), "low_frac": low, "high_frac": high, "samples": judged},
    )
