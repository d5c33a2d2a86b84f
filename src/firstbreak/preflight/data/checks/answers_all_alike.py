"""The check `answers-all-alike`."""

from __future__ import annotations

from collections import Counter

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..counting import rate_interval, shown
from ..datafile import DataFile
from ..gate import lacks, too_few

LEAST = 50
"""Rows; with fewer a common answer proves little."""
ALIKE = 0.9
"""Share of one answer from which on a model that ignores the prompt earns nearly everything."""


@check(
    "PDT008",
    "answers-all-alike",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Check how the answer column was made; balance the answers if they are right.",
)
def look(data: DataFile) -> Answer:
    """Nearly all rows have the same answer.

    What is measured:
        The share of the commonest answer (case, space and punctuation apart), with the lower end of its interval.

    Why it hurts:
        Always giving that answer earns nearly the whole reward: groups have no spread, and the prompt is not needed.

    Usual causes:
        A join that repeated one row; a default in the place of answers that could not be read; one class left over.

    What to try:
        Count the answers; compare with the source.

    When it is harmless:
        A rare event that is to be detected, scored with a measure that knows the share.

    References:
        Engineering default: 90 % of one answer.
    """
    skip = lacks(data, "answer")
    if skip is not None:
        return skip
    rows = data.with_texts("answer")
    skip = too_few(len(rows), LEAST, "answers")
    if skip is not None:
        return skip
    _, count = Counter(s.texts["answer"].normal for s in rows).most_common(1)[0]
    if rate_interval(count, len(rows))[0] < ALIKE:
        return None
    return Symptom(
        f"{shown(count, len(rows))} rows have one and the same answer",
        "answer",
        {"same_answer": count, "rows": len(rows)},
    )
