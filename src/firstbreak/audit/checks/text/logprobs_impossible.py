"""The check `logprobs-impossible`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ...judgement.gate import needs
from ...judgement.paid import column
from ...table import Table


@check(
    "AUD054",
    "logprobs-impossible",
    link=Link.NUMERICS,
    component=Component.SAMPLER,
    severity=Severity.ERROR,
    fix="Check the sign and that the logarithm of a normalised probability is logged.",
)
def look(table: Table) -> Answer:
    """Log-probabilities above 0, or not finite.

    What is measured:
        Samples with such a log-probability (up to 1e-4 above 0 is rounding), and the first such row.

    Why it hurts:
        Ratios made of them are wrong or infinite.

    Usual causes:
        Logits logged as log-probabilities; a masked token with minus infinity; the sign turned.

    What to try:
        Recompute one sample's log-probabilities by hand.

    When it is harmless:
        Never in what the trainer reads.

    References:
        A probability is at most 1.
    """
    skip = needs(table, "tokens/logprob_impossible")
    if skip is not None:
        return skip
    values = column(table, "tokens/logprob_impossible")
    known = np.isfinite(values)
    wrong = known & (values > 0)
    if wrong.sum() < 1:
        return None
    first = table.row_of(int(np.argmax(wrong)))
    return Symptom(
        f"{int(wrong.sum())} of {int(known.sum())} samples have impossible log-probabilities, first at row {first + 1}",
        "tokens/logprob_impossible",
        {
            "samples": int(wrong.sum()),
            "known": int(known.sum()),
            "frac": float(wrong.sum() / known.sum()),
            "first_row": first + 1,
        },
    )
