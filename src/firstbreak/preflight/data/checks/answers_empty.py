"""The check `answers-empty`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..counting import shown
from ..datafile import DataFile
from ..gate import lacks

REPLIES = ("answer", "completion", "chosen")
SOME = 0.001
"""Below one row in a thousand it is told for information only."""
MOST = 0.5
"""From half the rows on the column is not what it is taken for."""


@check(
    "PDT007",
    "answers-empty",
    link=Link.ENVIRONMENT_DATA,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Drop rows without an answer, and find the step that emptied them.",
)
def look(data: DataFile) -> Answer:
    """Some answers are empty.

    What is measured:
        Rows whose answer, completion or chosen side holds nothing but white space.

    Why it hurts:
        A reward that compares with "" can never be won, or is won by saying nothing; a model trained on empty replies
        learns to stop at once.

    Usual causes:
        A pattern that found no final answer; generations that were only a hidden thought; a cut at the prompt's end.

    What to try:
        Look at the first row named in the source the file was made from.

    When it is harmless:
        Tasks in which silence is a right answer.

    References:
        Engineering default: a warning from 0.1 % of the rows on, an error from half on.
    """
    skip = lacks(data, *REPLIES, "messages", any_of=True)
    if skip is not None:
        return skip
    worst: tuple[float, str, int, int, int] = (0.0, "", 0, 0, 0)
    for role in REPLIES:
        rows = data.with_texts(role)
        empty = [s.number for s in rows if s.texts[role].empty]
        if empty and len(empty) / len(rows) > worst[0]:
            worst = (len(empty) / len(rows), role, len(empty), len(rows), empty[0])
    share, role, empty_rows, rows_seen, first = worst
    if not empty_rows:
        return None
    return Symptom(
        f"{shown(empty_rows, rows_seen)} rows have an empty {role}, first row {first}",
        role,
        {"empty": empty_rows, "rows": rows_seen, "first_row": first},
        severity=Severity.ERROR if share >= MOST else Severity.INFO if share < SOME else None,
    )
