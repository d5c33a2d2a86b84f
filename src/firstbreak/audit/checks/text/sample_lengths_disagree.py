"""The check `sample-lengths-disagree`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ...judgement.certain import samples_with
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
    return samples_with(table, "tokens/lengths_disagree", "samples have token lists of unequal size", at_least=1.0)
