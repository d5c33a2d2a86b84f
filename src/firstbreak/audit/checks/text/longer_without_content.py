"""The check `longer-without-content`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ...judgement.gate import needs_rivals
from ...judgement.groups import dense, median_within
from ...judgement.marks import characters, standing_out
from ...judgement.paid import answer, column
from ...table import Table

LONGER = 1.3
FAR = 1.5
"""Spreads. Engineering default."""
LISTED = 0.5
"""Share of marked lines from which an answer is a list or a table, which repeats its form. Engineering default."""
THIN = 0.7
"""Part of the prompt's median of new bits per character; honest text of three times the length keeps 0.8 to 0.9 of it.
Engineering default: at equal length alone, a table whose long answers are all padded would look as it should."""
BITS = 0.4
WORDS = 0.04
"""Least amounts that count as a spread. Engineering default."""


@check(
    "AUD021",
    "longer-without-content",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Read the longest paid answers: limit the length or pay for what is said, not for how much.",
)
def look(table: Table) -> Answer:
    """Answers that are longer than their rivals and say less for their length are paid more.

    What is measured:
        Answers a third longer than their prompt's median, lists and tables apart, whose new bits per character or share
        of different words lie 1.5 spreads below their rivals', at equal length, or whose new bits lie below 0.7 of the
        prompt's median; what they earn more, with a 95 % interval.

    Why it hurts:
        Padding is the cheapest way to please a scorer that likes length.

    Usual causes:
        A reward model trained on pairs whose longer answer was mostly the better one.

    What to try:
        Cut the paddings by hand and score again: the reward should not fall.

    When it is harmless:
        When the format asks for tables or code, which repeat themselves.

    References:
        Singhal et al. 2023, arXiv 2310.03716; Bentz et al. 2017, doi:10.3390/e19060275 (entropy of texts).
    """
    skip = needs_rivals(table)
    if skip is not None:
        return skip
    length = characters(table)
    long = length >= LONGER * median_within(length, dense(table.group))[dense(table.group)]
    thin = standing_out(table, "text/new_bits_per_character", BITS) <= -FAR
    thin |= standing_out(table, "text/distinct_words_frac", WORDS) <= -FAR
    bits = column(table, "text/new_bits_per_character")
    thin |= bits <= THIN * median_within(bits, dense(table.group))[dense(table.group)]
    listed = np.nan_to_num(column(table, "text/markup_lines_frac")) >= LISTED
    return answer(table, long & thin & ~listed, "long answers that say little", "text/new_bits_per_character")
