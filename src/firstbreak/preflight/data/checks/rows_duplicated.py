"""The check `rows-duplicated`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..counting import repeats, shown
from ..datafile import DataFile

SOME = 0.01
"""Below one row in a hundred an epoch is not much changed."""


@check(
    "PDT009",
    "rows-duplicated",
    link=Link.ENVIRONMENT_DATA,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    fix="Drop repeated rows, or say how often each shall be seen through the sampler's weights.",
)
def look(data: DataFile) -> Answer:
    """Rows occur more than once.

    What is measured:
        Fingerprints of all rows (prompt, answers and tokens together) that were seen before; for a file of prompts
        without replies, prompts that are equal up to case, white space and punctuation at the ends.

    Why it hurts:
        Repeated rows are learnt by heart, count several times in every average, and leak into a random split.

    Usual causes:
        A file appended to itself; shards read twice; one source contained in another.

    What to try:
        Drop them by fingerprint before splitting off the evaluation data.

    When it is harmless:
        Oversampling on purpose.

    References:
        Lee et al. 2021, arXiv 2107.06499 (deduplication); engineering default: a warning from 1 % on.
    """
    if data.kind == "prompts":
        known = data.prompts != 0
        keys, numbers = data.prompts[known], data.numbers[known]
    else:
        keys, numbers = data.whole, data.numbers
    count, first = repeats(keys)
    if not count:
        return None
    return Symptom(
        f"{shown(count, int(keys.size))} rows repeat an earlier one, first row {int(numbers[first])}",
        "rows",
        {"repeats": count, "rows": int(keys.size), "first_row": int(numbers[first])},
        severity=None if count >= SOME * keys.size else Severity.INFO,
    )
