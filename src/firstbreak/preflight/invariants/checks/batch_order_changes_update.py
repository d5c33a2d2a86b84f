"""The order of the rows in a batch does not matter."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..batch_laws import laws
from ..bench import Bench, skips
from ..draws import draws


@check(
    "INV062",
    "batch-order-changes-update",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Index every column with the same permutation.",
    explained_by=("policy-loss-scores-other-action",),
)
@skips
def look(bench: Bench) -> Answer:
    """The order of the rows in a batch does not matter.

    Measured: the change of the gradient of one update when its rows are reversed.

    Why it hurts: rows influence each other: a neighbour's advantage, a shifted column, a normalisation over parts.

    Usual causes: normalised over consecutive groups, one column permuted without the others, recurrent state
    carried over rows.

    What to try: permute all columns together; normalise over the whole batch.

    Harmless: for sequences, where the order is the data.
    """
    found = bench.once(laws)
    if found.order <= max(found.tolerance, 1e-3):
        return None
    if bench.on_policy and bench.once(draws):
        return Skip("the update draws random numbers, which fall to other rows in another order")
    return Symptom(
        f"the same rows in another order give a gradient {found.order:.1%} different",
        "update",
        {"change_frac": found.order},
    )
