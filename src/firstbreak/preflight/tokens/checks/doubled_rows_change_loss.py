"""A batch in which every row comes twice gives another gradient."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import TokenBench, skips
from ..noise import gradients_of_two_seeds
from ..variants import CLOSE_FRAC, doubled_effect


@check(
    "TOK083",
    "doubled-rows-change-loss",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.WARNING,
    fix="Divide by the rows or tokens that are in the batch.",
    explained_by=("token-weights-not-advantages",),
)
@skips
def look(bench: TokenBench) -> Answer:
    """A batch in which every row comes twice gives another gradient.

    Measured: the gradient on a row, against the sum over its two copies.

    Why it hurts: the step size depends on the batch size.

    Usual causes: a sum over rows; a fixed number of rows as divisor.

    What to try: compare batches of 4 and 8 rows.

    Harmless: with a loss that is a sum on purpose: the settings then say `sum`.
    """
    if bench.pieces.settings.get("normalisation") == "sum":
        return Skip("the loss is stated to be a sum")
    change = bench.once(doubled_effect)
    if change <= CLOSE_FRAC or bench.once(gradients_of_two_seeds) > CLOSE_FRAC:
        return None
    return Symptom(
        f"with every row twice the gradient on a row changes by {change:.1%}", "loss", {"change_frac": change}
    )
