"""The check `one-string-fools-most`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..details import quoted
from ..gate import unasked
from ..record import Audit


@check(
    "VER019",
    "one-string-fools-most",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Add the string to the verifier's tests, and refuse it.",
    explained_by=(
        "null-answers-accepted",
        "format-alone-accepted",
        "prompt-copy-accepted",
        "answer-found-anywhere",
        "near-answers-accepted",
        "tests-tampered-with",
        "wrong-answers-accepted",
        "length-changes-score",
    ),
)
def look(audit: Audit) -> Answer:
    """One wrong response passes in most rows, whatever the question.

    What is measured:
        Responses without an answer, nonsense in the formats understood, every answer at once, and what fooled
        single rows; the shortest that passes in more than half of the rows where it is surely wrong, made shorter
        by delta debugging.

    Why it hurts:
        A policy needs to learn a single string to be paid everywhere.

    Usual causes:
        See the findings on the single kinds.

    What to try:
        Put the string of this report first among the verifier's own tests.

    When it is harmless:
        A string made of the answers of these few rows is less dangerous in a task with many answers.

    References:
        Zeller and Hildebrandt 2002, doi:10.1109/32.988498; Zhao et al. 2025, arXiv 2507.08794.
    """
    skip = unasked(audit, usable=False)
    if skip is not None:
        return skip
    if audit.universal is None:
        return None
    text, hits, rows = audit.universal
    return Symptom(
        f"{quoted(text[:24])} passes in {hits} of {rows} rows ({len(text)} characters)",
        "verifier",
        {"rows_fooled": hits, "rows": rows, "characters": len(text), "text": quoted(text)},
    )
