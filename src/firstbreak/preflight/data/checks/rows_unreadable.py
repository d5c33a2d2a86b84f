"""The check `rows-unreadable`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..counting import shown
from ..datafile import DataFile

MANY = 0.01
"""From one row in a hundred on the file was most likely written wrongly, not spoilt in a place."""


@check(
    "PDT001",
    "rows-unreadable",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    fix="Open the first such row; write the file again with a JSON or CSV library instead of by hand.",
)
def look(data: DataFile) -> Answer:
    """Some rows of the file cannot be read.

    What is measured:
        Lines that are no JSON object, table rows with another number of cells than the header.

    Why it hurts:
        A loader drops them in silence or stops in the middle of an epoch; dropped rows can also shift what follows.

    Usual causes:
        A writer killed in the middle of a line; a comma or a line break inside a cell that was not quoted; two
        processes that append to one file.

    What to try:
        Look at the first row named; count the lines against the number of samples that should be there.

    When it is harmless:
        One row at the very end of a file that is still being written.

    References:
        Engineering default: an error from 1 % of the rows on.
    """
    bad = data.unreadable_rows
    if not bad:
        return None
    total = bad + data.rows
    return Symptom(
        f"{shown(bad, total)} rows cannot be read, first row {data.unreadable[0]}",
        "rows",
        {"unreadable": bad, "rows": total, "first_row": data.unreadable[0]},
        severity=Severity.ERROR if bad >= MANY * total and bad > 1 else None,
    )
