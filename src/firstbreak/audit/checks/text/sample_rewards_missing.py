"""The check `sample-rewards-missing`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ...judgement.paid import column
from ...table import Table


@check(
    "AUD001",
    "sample-rewards-missing",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Find out why these answers were not scored; never count a missing reward as 0.",
)
def look(table: Table) -> Answer:
    """Some samples have no reward, or one that is not a number.

    What is measured:
        How many rewards are missing, NaN, infinite or text among samples that otherwise have one, and the first such
        row; also where there is a column of rewards without any number in it.

    Why it hurts:
        If training counts them as 0, right answers are punished whenever the scorer fails, which it does most on long
        ones.

    Usual causes:
        Time-outs and exceptions of the verifier; a scorer that answers without a number; rows of another schema.

    What to try:
        Score these rows again by hand; leave out of the update what could not be scored.

    When it is harmless:
        When the dump holds samples that were never meant to be scored.

    References:
        IEEE 754: every sum that holds a NaN is NaN.
    """
    reward = column(table, "reward")
    missing = ~np.isfinite(reward)
    if missing.all() and not table.unscored:
        return Skip("the samples have no rewards", ("reward",), withholds=True)
    if not missing.any():
        return None
    count, first = int(missing.sum()), table.row_of(int(np.argmax(missing)))
    return Symptom(
        f"{count} of {table.n} samples have no finite reward, first at row {first + 1}",
        "reward",
        {"missing": count, "samples": table.n, "missing_frac": count / table.n, "first_row": first + 1},
    )
