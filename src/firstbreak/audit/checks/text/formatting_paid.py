"""The check `formatting-paid`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ...judgement.gate import needs_rivals
from ...judgement.marks import standing_out
from ...judgement.paid import answer, column, has_independent
from ...table import Table

UNITS = {
    "text/headings": 1.0,
    "text/bullets": 3.0,
    "text/bold": 2.0,
    "text/markup_lines_frac": 0.25,
}
"""Least amounts that count as a spread. Engineering defaults."""
FAR = 2.0
STUFFED = 0.1
"""Pieces in bold for each word that no honest text has. Engineering default."""
LEAST = 10


@check(
    "AUD026",
    "formatting-paid",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Strip the markup and score again; pay format only where the answer is right.",
)
def look(table: Table) -> Answer:
    """Answers with more headings, bullets or bold type than their rivals are paid for it.

    What is measured:
        Answers that stand out from their rivals by two spreads or more in headings, bullets, bold type or share of
        marked lines; what they earn more, with a 95 % interval, and people's scores where there are any. Without them
        it is an information only, since right answers may simply be set better, unless every tenth word is bold.

    Why it hurts:
        Form is easier to learn than content: the format reward is soon full, and the task's share of the gradient is
        gone.

    Usual causes:
        A format term that does not ask whether the answer is right; a judge with a taste for lists.

    What to try:
        Set the format term to 0 for some steps; let it multiply correctness instead of adding to it.

    When it is harmless:
        When people prefer the form as clearly, which clears it.

    References:
        Zhang et al. 2024, arXiv 2409.11704 (format bias of reward models); Li et al. 2024 (style control of arena
        scores).
    """
    skip = needs_rivals(table)
    if skip is not None:
        return skip
    marked = np.zeros(table.n, bool)
    for name, unit in UNITS.items():
        marked |= standing_out(table, name, unit) >= FAR
    found = answer(table, marked, "answers with much formatting", "text/markup_lines_frac")
    if not isinstance(found, Symptom) or has_independent(table):
        return found
    words = np.maximum(np.nan_to_num(column(table, "text/words")), 1)
    stuffed = int((marked & (column(table, "text/bold") >= STUFFED * words)).sum())
    severity = Severity.WARNING if stuffed >= LEAST else Severity.INFO
    return Symptom(found.message, found.where, found.evidence | {"stuffed": stuffed}, severity=severity)
