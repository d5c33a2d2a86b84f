"""The check `gibberish-paid`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ...judgement.gate import needs_rivals
from ...judgement.marks import standing_out
from ...judgement.paid import answer, column
from ...table import Table

UNITS = {"text/nonwords_frac": 0.025, "text/longest_word_characters": 15.0}
"""Least amounts that count as a spread. Engineering defaults."""
FAR = 2.0


@check(
    "AUD036",
    "gibberish-paid",
    link=Link.POLICY_UPDATE,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Lower the learning rate or anchor to the reference: the policy leaves the language.",
)
def look(table: Table) -> Answer:
    """Answers with words that no language has are paid.

    What is measured:
        Answers that stand out from their rivals by two spreads in words without vowels or with letters among digits, or
        in characters without a space; what they earn beyond their rivals. Bold type, boxes and hidden characters have
        checks of their own.

    Why it hurts:
        What a reward model has never seen it scores at random, and optimisation finds the random highs.

    Usual causes:
        Reward-model over-optimisation; entropy that grows without limit; a broken tokeniser or a wrong template.

    What to try:
        Watch KL to the reference and entropy; score the head of the answer without its tail.

    When it is harmless:
        In code, formulas and codes of parts.

    References:
        Gao et al. 2022, arXiv 2210.10760; Ziegler et al. 2019, arXiv 1909.08593, section 4.4.
    """
    skip = needs_rivals(table)
    if skip is not None:
        return skip
    marked = np.zeros(table.n, bool)
    for name, unit in UNITS.items():
        marked |= standing_out(table, name, unit) >= FAR
    marked &= (np.nan_to_num(column(table, "text/hidden_characters")) == 0) & (
        standing_out(table, "text/bold", 2.0) < FAR
    )
    marked &= np.nan_to_num(column(table, "text/boxed")) < 2
    return answer(table, marked, "answers with gibberish", "text/nonwords_frac")
