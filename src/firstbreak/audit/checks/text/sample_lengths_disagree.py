"""The check `sample-lengths-disagree`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ...judgement.gate import needs
from ...judgement.paid import column
from ...table import Table


@check(
    "AUD053",
    "sample-lengths-disagree",
    link=Link.POLICY_UPDATE,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    fix="Print the lengths of ids, mask and log-probabilities of the row named.",
)
def look(table: Table) -> Answer:
    """Ids, loss mask, log-probabilities or the stated length of a sample disagree in length.

    What is measured:
        Samples with such a disagreement (one token may be the end's), and the first such row.

    Why it hurts:
        From the place where they part, each token is trained with its neighbour's log-probability or mask.

    Usual causes:
        A dropped end token; padding taken along; log-probabilities without the first token.

    What to try:
        Align all four by position for one sample.

    When it is harmless:
        When the dump was cut for reading.

    References:
        None; the check reads off a definition.
    """
    skip = needs(table, "tokens/lengths_disagree")
    if skip is not None:
        return skip
    values = column(table, "tokens/lengths_disagree")
    known = np.isfinite(values)
    wrong = known & (values == 1)
    if wrong.sum() < 1:
        return None
    first = table.row_of(int(np.argmax(wrong)))
    return Symptom(
        f"{int(wrong.sum())} of {int(known.sum())} samples have token lists of unequal size, first at row {first + 1}",
        "tokens/lengths_disagree",
        {
            "samples": int(wrong.sum()),
            "known": int(known.sum()),
            "frac": float(wrong.sum() / known.sum()),
            "first_row": first + 1,
        },
    )
