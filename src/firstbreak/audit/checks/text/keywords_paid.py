"""The check `keywords-paid`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ...judgement.gate import needs_rivals
from ...judgement.marks import standing_out
from ...judgement.paid import answer, column
from ...table import Table

HEAP = 0.35
"""Commas for each word; lists within sentences stay below, running text has 0.05 to 0.1. Engineering default."""
COMMAS = 0.1
"""Least amount of commas for each word that counts as a spread. Engineering default."""
FAR = 2.0


@check(
    "AUD042",
    "keywords-paid",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Score the words in another order: a heap of keywords must lose what a sentence earns.",
)
def look(table: Table) -> Answer:
    """Heaps of keywords without sentences are paid.

    What is measured:
        Answers with a comma to every third word at least that stand out from their rivals in it by two spreads; what
        they earn beyond their rivals.

    Why it hurts:
        A scorer that looks for words pays for a list of them.

    Usual causes:
        Keyword or overlap scores; embedding likeness to a reference answer.

    What to try:
        Score the reference answer's words in alphabetical order.

    When it is harmless:
        When the task asks for a list.

    References:
        Liu et al. 2016, arXiv 1603.08023 (how not to evaluate dialogue: word overlap).
    """
    skip = needs_rivals(table)
    if skip is not None:
        return skip
    marked = (column(table, "text/commas_frac") >= HEAP) & (standing_out(table, "text/commas_frac", COMMAS) >= FAR)
    return answer(table, marked, "answers that are heaps of words", "text/commas_frac")
