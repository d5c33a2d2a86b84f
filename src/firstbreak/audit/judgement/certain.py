"""What is wrong with a sample by itself: counted over the samples of which it is known, the first one named."""

from __future__ import annotations

import numpy as np

from ...check import Answer, Symptom
from ..table import Table
from .gate import needs
from .paid import column

ANY = float(np.nextafter(0.0, 1.0))
"""The least share that is above 0."""


def samples_with(table: Table, measure: str, what: str, *, at_least: float = ANY) -> Answer:
    """Return how many samples have a `measure` of `at_least` that; `what` says it of them (`samples have no end`)."""
    skip = needs(table, measure)
    if skip is not None:
        return skip
    values = column(table, measure)
    known = np.isfinite(values)
    wrong = known & (values >= at_least)
    count, asked = int(wrong.sum()), int(known.sum())
    if not count:
        return None
    first = table.row_of(int(np.argmax(wrong))) + 1
    return Symptom(
        f"{count} of {asked} {what}, first at row {first}",
        measure,
        {"samples": count, "known": asked, "frac": count / asked, "first_row": first},
    )
