"""The check `repetition-paid`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ...judgement.gate import needs_rivals
from ...judgement.marks import standing_out
from ...judgement.paid import answer, column
from ...table import Table

REPEATED = 0.3
STRETCH = 15
UNIT = 0.08
FAR = 1.5
"""Share of repeated runs of words, words on end, least spread, and spreads beyond the rivals. Engineering defaults."""


@check(
    "AUD023",
    "repetition-paid",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Score the answer with its repetitions cut; if the reward falls, it pays for repeating.",
)
def look(table: Table) -> Answer:
    """Answers that say the same again and again are paid.

    What is measured:
        Answers of whose runs of four words three in ten stood before, or which repeat 15 words or more on end, or which
        compress far better than their rivals; what they earn beyond their rivals, with a 95 % interval.

    Why it hurts:
        Loops fill the budget of tokens, and nobody wants to read them.

    Usual causes:
        A scorer that counts mentions; a final answer that is found whatever else stands there; a length bonus.

    What to try:
        Read the rows; mask what was cut at the limit; a penalty on repeated n-grams.

    When it is harmless:
        In tables, code and verse, and where people like these answers, which clears them.

    References:
        Welleck et al. 2019, arXiv 1908.04319; Yeo et al. 2025, arXiv 2502.03373 (repetition as a length hack).
    """
    skip = needs_rivals(table)
    if skip is not None:
        return skip
    loops = (column(table, "text/repeated_frac") >= REPEATED) | (
        column(table, "text/longest_repeated_words") >= STRETCH
    )
    loops &= standing_out(table, "text/repeated_frac", UNIT) >= FAR
    loops |= standing_out(table, "text/compressed_frac", UNIT) <= -2 * FAR
    return answer(table, loops, "answers that repeat themselves", "text/repeated_frac")
