"""The check `logprobs-impossible`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ...judgement.certain import samples_with
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
    return samples_with(table, "tokens/logprob_impossible", "samples have impossible log-probabilities")
