"""The check `prompt-copied`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ...judgement.gate import needs_rewards
from ...judgement.paid import answer, column
from ...table import Table

COPIED = 0.5
STRETCH = 8
"""Share of the runs of four words, and words on end. Engineering defaults."""


@check(
    "AUD038",
    "prompt-copied",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Take the prompt's own words out of the answer before scoring.",
)
def look(table: Table) -> Answer:
    """Answers that copy their prompt are paid.

    What is measured:
        Answers of whose runs of four words half or more stand in the prompt, eight words on end at least; what they
        earn beyond their rivals.

    Why it hurts:
        A scorer that measures likeness to the prompt, or finds the expected answer in it, pays for an echo.

    Usual causes:
        Overlap scores such as ROUGE; an answer key that stands in the prompt; a prompt left in the response by the
        logger.

    What to try:
        Score the prompt as if it were the answer.

    When it is harmless:
        In editing, translation of names, and extraction, where the answer must be the prompt's words.

    References:
        Paulus et al. 2017, arXiv 1705.04304 (optimising ROUGE).
    """
    skip = needs_rewards(table)
    if skip is not None:
        return skip
    copied = (column(table, "text/copied_frac") >= COPIED) & (column(table, "text/longest_copied_words") >= STRETCH)
    return answer(table, copied, "answers copied from the prompt", "text/copied_frac")
