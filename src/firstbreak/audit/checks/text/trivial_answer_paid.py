"""The check `trivial-answer-paid`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ...judgement.gate import needs_rivals
from ...judgement.groups import dense, median_within
from ...judgement.marks import characters
from ...judgement.paid import answer, column
from ...table import Table

SHORT = 40
PART = 0.1
"""Characters, and part of the prompt's median length. Engineering defaults."""


@check(
    "AUD041",
    "trivial-answer-paid",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Put empty answers, a colon and `Solution` through the scorer; each must earn nothing.",
)
def look(table: Table) -> Answer:
    """Empty answers and mere openers are paid.

    What is measured:
        Answers without a word, or that are an opener and nothing else, or that have at most 40 characters and a tenth
        of their prompt's median length; what they earn beyond their rivals.

    Why it hurts:
        The shortest string that is paid becomes the policy.

    Usual causes:
        A judge that a colon fools; a default reward of an exception handler; an empty answer key.

    What to try:
        `firstbreak audit verifier` searches the shortest fooling string.

    When it is harmless:
        When the right answer is that short and rivals explain it at length; people's scores clear that.

    References:
        Zhao et al. 2025, arXiv 2507.08794, table 1.
    """
    skip = needs_rivals(table)
    if skip is not None:
        return skip
    length, index = characters(table), dense(table.group)
    short = (length <= SHORT) & (length <= PART * median_within(length, index)[index])
    short |= (column(table, "text/empty") == 1) | (column(table, "text/hollow") == 1)
    return answer(table, short, "trivial answers", "text/characters")
