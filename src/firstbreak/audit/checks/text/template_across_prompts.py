"""The check `template-across-prompts`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, check
from ....finding import Component, Link, Severity, Skip
from ...judgement.contrast import contrast
from ...judgement.gate import needs_rewards
from ...judgement.groups import dense
from ...judgement.marks import characters
from ...judgement.paid import answer
from ...judgement.phrases import LEAST_PROMPTS, phrases_of, share_of
from ...table import Table

HALF = 0.5
UNIT = 0.1
FAR = 1.5
"""Share of the answer, least spread, and spreads beyond the rivals. Engineering defaults."""


@check(
    "AUD024",
    "template-across-prompts",
    link=Link.EXPLORATION,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Change the names in a prompt and draw again: the answer must change with them.",
)
def look(table: Table) -> Answer:
    """Answers that are mostly made of phrases which stand at many other prompts are paid.

    What is measured:
        The share of each answer's runs of four words that occur at six or more different prompts; answers of half or
        more that stand out from their rivals, and what they earn beyond them. No list of phrases is used.

    Why it hurts:
        An answer that fits every prompt answers none. Entropy within a prompt can stay high while this happens.

    Usual causes:
        A scorer that reads form; a policy that found one skeleton that always passes.

    What to try:
        Look for the prompt's own names in the answers; score an answer against another prompt.

    When it is harmless:
        When the format demands fixed headings, and the headings are most of the text.

    References:
        Wang et al. 2025 (RAGEN), arXiv 2504.20073 (echo trap and templates).
    """
    skip = needs_rewards(table)
    if skip is not None:
        return skip
    if len(table.drawn) != table.n:
        return Skip("more samples than texts are kept; templates are judged on tables of up to 4,000 samples")
    phrases = phrases_of(table.drawn)
    share = share_of(phrases, phrases.prompts >= LEAST_PROMPTS)
    stands_out = contrast(share, dense(table.group), np.log1p(characters(table)), UNIT) >= FAR
    marks = (share >= HALF) & stands_out
    return answer(table, marks, "answers made of phrases from other prompts", "response")
