"""The check `cells-not-text`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..counting import shown
from ..datafile import DataFile

CONCERNED = ("prompt", "chosen", "rejected", "completion", "answer", "input_ids", "labels", "messages")
MANY = 0.01
"""From one row in a hundred on it is not a stray."""
MOSTLY_EMPTY = 0.5
"""A column that is empty in half the rows or more is optional, not damaged."""
SPELT_OUT = frozenset({"nan", "none", "null", "<na>", "n/a", "undefined"})
"""How a missing value reads once a program has turned it into text."""


@check(
    "PDT002",
    "cells-not-text",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    fix="Drop or mend these rows where the file is made; do not let str() turn a missing value into text.",
)
def look(data: DataFile) -> Answer:
    """Some prompts, answers or token lists are missing, NaN, of another type, or the word "nan".

    What is measured:
        Cells of the columns in use that hold no text (no tokens), and prompts and replies that consist of nan, None or
        null.

    Why it hurts:
        The loader raises far into the run, or the model is trained to answer "nan".

    Usual causes:
        A join that found no partner; pandas, which writes NaN for a missing text; str(None) in a format string.

    What to try:
        Look at the first row named; drop rows with a missing cell before writing.

    When it is harmless:
        An optional column; one that is empty in half of the rows or more is taken for one.

    References:
        Engineering default: an error from 1 % of the rows on.
    """
    worst: tuple[int, str, str, int] = (0, "", "", 0)
    for role in CONCERNED:
        counts = data.faults.get(role)
        if counts is None or role not in data.roles:
            continue
        bad = sum(counts.values())
        optional = counts["missing"] == bad and bad >= MOSTLY_EMPTY * data.rows
        if bad > worst[0] and not optional:
            worst = (bad, role, counts.most_common(1)[0][0], data.first_fault[role])
    for role in ("prompt", "chosen", "rejected", "completion"):
        rows = [s.number for s in data.with_texts(role) if s.texts[role].head.strip().lower() in SPELT_OUT]
        if len(rows) > worst[0]:
            worst = (len(rows), role, "the word nan", rows[0])
    bad, role, kind, first = worst
    if not bad:
        return None
    return Symptom(
        f"{shown(bad, data.rows)} rows: {role} is {kind}, first row {first}",
        role,
        {"rows_bad": bad, "rows": data.rows, "first_row": first, "kind": kind},
        severity=Severity.ERROR if bad >= MANY * data.rows and bad > 1 else None,
    )
