"""The check `response-masked-out`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ...judgement.certain import samples_with
from ...table import Table


@check(
    "AUD052",
    "response-masked-out",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS_MASK,
    severity=Severity.WARNING,
    fix="Look for the filter that masks them; if it is meant (overlong), count it as lost samples.",
)
def look(table: Table) -> Answer:
    """Whole responses are left out of the loss.

    What is measured:
        Samples whose loss mask is 0 on every token of the response, and the first such row.

    Why it hurts:
        Sampled, scored and thrown away: the real batch is smaller than its size says.

    Usual causes:
        Overlong filtering; a mask of another sample after sorting; an off-by-one in the start.

    What to try:
        Compare the share with the share of truncated answers.

    When it is harmless:
        When overlong answers are masked on purpose.

    References:
        Yu et al. 2025 (DAPO), arXiv 2503.14476, section 3.4.
    """
    return samples_with(table, "tokens/masked_response_frac", "responses are wholly outside the loss", at_least=1.0)
